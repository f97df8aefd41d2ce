import ChatCore

extension ConversationCoordinator {
    /// Executes a command entered in a room.
    func perform(_ command: ChatCommand, in room: RoomID) async throws {
        switch command {
        case .message, .help: break
        case .setTopic(let topic): try await service.setTopic(topic, of: room)
        case .showTopic: try await showTopic(of: room)
        case .setDisplayName(let name): try await service.setDisplayName(name)
        case .invite(let address): try await invite(address, to: room)
        case .join(let address): try await join(address)
        case .leave: onLeaveRequested?(room)
        case .rename(let name): try await service.renameRoom(room, to: name)
        case .remove(let name): try await remove(name, from: room)
        case .clear: if conversation?.roomID == room { conversation?.timeline.send(.clear) }
        }
    }

    private func showTopic(of room: RoomID) async throws {
        let topic = try await service.topic(of: room)
        onToast?(.message(topic ?? translator("Nobody has said what this room is about.")))
    }

    private func invite(_ address: String, to room: RoomID) async throws {
        do {
            try await service.invite(address, to: room)
        } catch ChatError.notFound {
            throw CommandFailure(translator("Nobody is known as {name}.", ["name": address]))
        }
    }

    /// Opens a listed room by name or address; otherwise joins it through the backend.
    /// - Parameter message: a message to jump to.
    private func join(_ address: String, showing message: MessageID? = nil) async throws {
        let target = ChatAddress(address)?.room?.address ?? address
        let bareName = address.hasPrefix("#") ? String(address.dropFirst()) : address
        let rows = rooms.state.rows
        let row =
            rows.first { $0.id.rawValue == target || $0.address == target } ?? rows.first { $0.name == bareName }
            ?? rows.first { $0.name.lowercased() == bareName.lowercased() }
        if let row { return show(message, in: row.id) }
        guard service.capabilities.contains(.join) else {
            throw CommandFailure(translator("There is no room called {name} here.", ["name": bareName]))
        }
        show(message, in: try await service.join(address))
    }

    /// Whether addresses of rooms and users outside the list can be resolved.
    public var acceptsAddresses: Bool { service.capabilities.contains(.join) }

    /// Opens the target of an address or link: joins a room, jumps to a message or opens a direct chat.
    public func open(_ address: String) {
        Task { [weak self] in
            do {
                switch ChatAddress(address) {
                case .user(let user)?:
                    guard let room = try await self?.service.openDirect(with: user) else { return }
                    self?.rooms.send(.select(room))
                case .message(let message, _, _)?: try await self?.join(address, showing: message)
                case .room?, nil: try await self?.join(address)
                }
            } catch let failure as CommandFailure {
                self?.onToast?(.message(failure.reason))
            } catch {
                self?.onToast?(.failed(ChatError(error)))
            }
        }
    }

    private func remove(_ name: String, from room: RoomID) async throws {
        let bareName = name.hasPrefix("@") ? String(name.dropFirst()) : name
        let others = conversation.flatMap { $0.roomID == room ? $0.timeline.state.otherMembers : nil } ?? []
        let found = others.filter { $0.id.rawValue == name || $0.displayName.lowercased() == bareName.lowercased() }
        guard let member = found.first else {
            throw CommandFailure(translator("Nobody here is called {name}.", ["name": bareName]))
        }
        guard found.count == 1 else {
            throw CommandFailure(
                translator("Several are called {name}: write which by the identifier.", ["name": bareName]))
        }
        try await service.removeMember(member.id, from: room)
    }
}
