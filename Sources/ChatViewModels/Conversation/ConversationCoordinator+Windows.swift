public import ChatCore

/// Rooms in windows of their own, beside the main window.
extension ConversationCoordinator {
    /// In the order in which the windows were opened.
    public var roomWindows: [Conversation] { openRooms.inWindows }

    /// Opens a window for a listed room, or presents the one that it has.
    public func openWindow(of room: RoomID) {
        if let open = openRooms.visibleWindow(of: room) { return open.requests.add(.present) }
        if openRooms.closingWindows.contains(room) { openRooms.reopeningWindows.insert(room) }
        guard let conversation, conversation.roomID == room else { return makeWindow(of: room) }
        Task {
            // The window starts at the main window's scroll position.
            await conversation.timeline.flush()
            makeWindow(of: room)
        }
    }

    /// Restores windows of rooms. A room that is missing in the first list no longer belongs to the user.
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

    /// Marks a hidden window as closing and stores its state. Opening the room from now on creates another window.
    public func noteClosingWindow(of room: RoomID) {
        if openRooms.window(of: room) != nil { openRooms.closingWindows.insert(room) }
    }

    /// Closes a room's window. If the room is selected, the main window displays it again. Store its state first, see
    /// ``Conversation/flush()``.
    public func closeWindow(of room: RoomID) {
        guard let closing = openRooms.window(of: room) else { return }
        openRooms.inWindows.removeAll { $0 === closing }
        openRooms.closingWindows.remove(room)
        members.roomClosed(room)
        closing.close()
        windowsChanged()
        // Pass on the toasts that a hidden window did not show.
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
