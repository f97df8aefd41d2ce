public import ChatCore

/// The rooms that have windows of their own, beside the main window.
extension ConversationCoordinator {
    /// In the order in which their windows were opened.
    public var roomWindows: [Conversation] { openRooms.inWindows }

    /// Gives a listed room a window of its own, or brings the one that it has to the front.
    public func openWindow(of room: RoomID) {
        if let open = openRooms.visibleWindow(of: room) { return open.requests.add(.present) }
        if openRooms.closingWindows.contains(room) { openRooms.reopeningWindows.insert(room) }
        guard let conversation, conversation.roomID == room else { return makeWindow(of: room) }
        Task {
            // The window begins where the main window leaves off.
            await conversation.timeline.flush()
            makeWindow(of: room)
        }
    }

    /// Opens the windows that rooms had before. A room that is not in the first list is not the user's any more.
    func restoreWindows(of rooms: [RoomID]) {
        guard !rooms.isEmpty else { return }
        restoring = ChangeSubscription(to: { [list = self.rooms] in
            // A new account's first list is empty.
            list.state.isLoaded && !list.state.rows.isEmpty
        }) { [weak self] hasRooms in
            guard let self, hasRooms else { return }
            self.restoring = nil
            for room in rooms { self.makeWindow(of: room) }
        }
    }

    /// Notes that the window of a room is hidden and stores what it leaves behind: who asks for the room from now on gets
    /// another window.
    public func noteClosingWindow(of room: RoomID) {
        if openRooms.window(of: room) != nil { openRooms.closingWindows.insert(room) }
    }

    /// Closes the window of a room; if the room is selected, the main window shows it again. Store what it leaves behind
    /// first, see ``Conversation/flush()``.
    public func closeWindow(of room: RoomID) {
        guard let closing = openRooms.window(of: room) else { return }
        openRooms.inWindows.removeAll { $0 === closing }
        openRooms.closingWindows.remove(room)
        members.roomClosed(room)
        closing.close()
        windowsChanged()
        // What nobody could see in a hidden window.
        for entry in closing.requests.state.pending { if case .show = entry.request { requests.add(entry.request) } }
        if openRooms.reopeningWindows.remove(room) != nil { makeWindow(of: room) }
        openSelection()
    }

    private func makeWindow(of room: RoomID) {
        guard openRooms.window(of: room) == nil, rooms.state.rows.contains(where: { $0.id == room }) else { return }
        let conversation = makeConversation(in: room, requests: WindowRequests())
        openRooms.inWindows.append(conversation)
        if self.conversation?.roomID == room { close() }
        windowsChanged()
        conversation.start()
    }
}
