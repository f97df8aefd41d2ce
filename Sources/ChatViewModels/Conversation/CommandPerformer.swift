import ChatCore
import ComposerSessions

/// Performs the slash commands, and opens addresses.
struct CommandPerformer {
    let service: any ChatService
    let translator: Translator
    let rooms: RoomListViewModel
    let openRooms: OpenRooms
    let navigator: RoomNavigator
    /// The requests of the main window.
    let requests: WindowRequests
    let session: AccountSession
    let time: Timekeeper

    /// Performs a command that was entered in a room.
    func perform(_ command: ChatCommand, in room: RoomID) async throws {
        let requests = openRooms.conversation(in: room)?.requests ?? requests
        switch command {
        case .message, .help: break
        case .setTopic(let topic): try await service.setTopic(topic, of: room)
        case .showTopic: requests.show(.message(try await topic(of: room)))
        case .setDisplayName(let name): try await service.setDisplayName(name)
        case .invite(let address): try await invite(address, to: room)
        case .join(let address): try await join(address, as: UserChoice())
        case .leave: requestLeaving(room, in: requests)
        case .rename(let name): try await service.renameRoom(room, to: name)
        case .remove(let name): try await remove(name, from: room)
        case .clear: openRooms.conversation(in: room)?.timeline.send(.pages(.clear))
        }
    }

    /// Asks the user whether to leave a listed room.
    func requestLeaving(_ room: RoomID, in requests: WindowRequests) {
        guard let row = rooms.state.rows.first(where: { $0.id == room }) else { return }
        requests.add(.confirmLeaving(room, name: row.name))
    }

    /// Opens the target of an address or link: joins a room, jumps to a message or opens a direct chat.
    /// - Parameters:
    ///   - choice: when the user chose it. Who has chosen another room since stays there.
    ///   - opening: called with the room once it is selected.
    func open(_ address: String, as choice: UserChoice, opening: @escaping @MainActor (RoomID) -> Void) {
        Task {
            do {
                let selected: RoomID?
                switch ChatAddress(address) {
                case .user(let user)?:
                    await waitForConnection()
                    let room = try await service.openDirect(with: user)
                    selected = show(nil, in: room, as: choice)
                case .message(let message, _, _)?: selected = try await join(address, showing: message, as: choice)
                case .room?, nil: selected = try await join(address, as: choice)
                }
                if let selected { opening(selected) }
            } catch let failure as CommandFailure {
                requests.show(.message(failure.reason))
            } catch {
                requests.show(.failed(ChatError(error)))
            }
        }
    }

    private func topic(of room: RoomID) async throws -> String {
        try await service.topic(of: room) ?? translator("This room has no topic.")
    }

    private func invite(_ address: String, to room: RoomID) async throws {
        do {
            try await service.invite(address, to: room)
        } catch ChatError.notFound {
            throw CommandFailure(translator("No user found for {name}.", ["name": address]))
        }
    }

    /// Opens a listed room by name or address; otherwise joins it through the backend.
    /// - Parameter message: a message to jump to.
    /// - Returns: the room; `nil` if the user has opened another one meanwhile.
    @discardableResult
    private func join(
        _ address: String, showing message: MessageID? = nil, as choice: UserChoice
    ) async throws -> RoomID? {
        let target = ChatAddress(address)?.room?.address ?? address
        let bareName = address.hasPrefix("#") ? String(address.dropFirst()) : address
        let rows = rooms.state.rows
        let row =
            rows.first { $0.id.rawValue == target || $0.address == target } ?? rows.first { $0.name == bareName }
            ?? rows.first { $0.name.lowercased() == bareName.lowercased() }
        if let row { return show(message, in: row.id, as: choice) }
        guard service.capabilities.contains(.join) else { throw noRoom(named: bareName) }
        await waitForConnection()
        let room: RoomID
        do {
            room = try await service.join(address)
        } catch ChatError.notFound {
            guard let parsed = ChatAddress(address)?.room else { throw noRoom(named: bareName) }
            throw CommandFailure(
                translator("No room found with the address {address}.", ["address": parsed.address]))
        }
        return show(message, in: room, as: choice)
    }

    private func noRoom(named name: String) -> CommandFailure {
        CommandFailure(translator("No room named {name}.", ["name": name]))
    }

    /// Waits while the account connects: before that, as after a start by a link, each request to the server fails.
    private func waitForConnection() async {
        guard session.isConnecting else { return }
        await time.wait(atMost: AccountsCoordinator.connectingTimeout) { [session] in !session.isConnecting }
    }

    /// Opens a room that the accounts or the server took their time for, a minute at times. A user who has opened another
    /// room meanwhile stays there: the rest of what they are typing must not go to this one.
    /// - Returns: the room, unless the user stays in another.
    private func show(_ message: MessageID?, in room: RoomID, as choice: UserChoice) -> RoomID? {
        guard !choice.isOutdated(by: rooms.lastChoice) else { return nil }
        navigator.show(message, in: room, as: choice)
        return room
    }

    private func remove(_ name: String, from room: RoomID) async throws {
        let bareName = name.hasPrefix("@") ? String(name.dropFirst()) : name
        let members = openRooms.otherMembers(of: room)
        // Someone may be named like another's identifier.
        let identified = members.filter { $0.id.rawValue == name }
        let found =
            identified.isEmpty
            ? members.filter { $0.displayName.lowercased() == bareName.lowercased() } : identified
        guard let member = found.first else {
            throw CommandFailure(translator("No member named {name}.", ["name": bareName]))
        }
        guard found.count == 1 else {
            throw CommandFailure(
                translator("Several members are named {name}. Use a Matrix ID instead.", ["name": bareName]))
        }
        try await service.removeMember(member.id, from: room)
    }
}
