import ChatCore

extension BackendContract {
    static let rooms: [BackendContract] = [
        BackendContract("a room is listed, renamed and left") { backend in
            let room = try await backend.createRoom(named: "  A new \n room ")
            let made = await summary(of: room, in: backend)
            try expect(made?.room.name == "A new room", "name is \(made?.room.name ?? "none")")
            try expect(made?.unreadCount == 0 && made?.lastMessage == nil, "it is empty")
            try await backend.renameRoom(room, to: "Another name")
            try expect(
                await summary(of: room, in: backend) { $0.room.name == "Another name" } != nil, "it is renamed")
            try await backend.leaveRoom(room)
            var summaries = backend.roomSummaries().makeAsyncIterator()
            _ = try require(await summaries.next { !$0.contains { $0.id == room } }, "it is gone from the list")
        },
        BackendContract("a name is neither empty nor too long") { backend in
            let room = try await backend.createRoom(named: "Fine")
            for name in ["", " \n ", String(repeating: "é", count: ChatLimits.roomNameLength + 1)] {
                try await expect(.invalidName) { _ = try await backend.createRoom(named: name) }
                try await expect(.invalidName) { try await backend.renameRoom(room, to: name) }
            }
            try await backend.renameRoom(room, to: String(repeating: "👩🏽‍🚀", count: ChatLimits.roomNameLength))
        },
        BackendContract("what is not there is not found") { backend in
            let room = RoomID("no such room")
            try await expect(.notFound) { try await backend.renameRoom(room, to: "Name") }
            try await expect(.notFound) { try await backend.leaveRoom(room) }
            try await expect(.notFound) { try await backend.removeMember(MemberID("x"), from: room) }
            try await expect(.notFound) { try await backend.setMarkedUnread(true, in: room) }
            try await expect(.notFound) { try await backend.markAllRead(in: room) }
            try await expect(.notFound) { try await backend.send(Fixtures.outgoing("Text"), to: room) }
            try await expect(.notFound) { _ = try await backend.draft(in: room) }
            try await expect(.notFound) { try await backend.saveDraft(Fixtures.draft("x"), in: room) }
            try await expect(.notFound) { _ = try await backend.messages(in: room, before: 1, limit: 1) }
            var updates = backend.timeline(of: room, limit: 1).makeAsyncIterator()
            try expect(await updates.next() == .closed, "its timeline is closed")
            try expect(await updates.next() == nil, "and ends")
            let other = try await backend.createRoom(named: "Room")
            let message = MessageID("no such message")
            try await expect(.notFound) { try await backend.edit(message, in: other, text: "x") }
            try await expect(.notFound) { try await backend.delete(message, in: other) }
            try await expect(.notFound) { try await backend.markRead(message, in: other) }
            try await expect(.notFound) { try await backend.removeMember(MemberID("x"), from: other) }
        },
        BackendContract("the room with the newest message comes first") { backend in
            let first = try await backend.createRoom(named: "First")
            let second = try await backend.createRoom(named: "Second")
            for room in [second, first] {
                let text = "to \(room)"
                try await backend.send(Fixtures.outgoing(text), to: room)
                var summaries = backend.roomSummaries().makeAsyncIterator()
                let rooms = try require(
                    await summaries.next { $0.first?.id == room && $0.first?.lastMessage?.text == text }, "it is first")
                try expect(rooms[0].lastMessage?.isOwn == true, "it is one's own")
            }
        },
        BackendContract("a room is marked as unread until it is read or somebody writes there") { backend in
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("Text"), to: room)
            func isListed(_ isMarked: Bool) async throws {
                try expect(
                    await summary(of: room, in: backend) { $0.isMarkedUnread == isMarked } != nil,
                    "isMarkedUnread is \(isMarked)")
            }
            try await isListed(false)
            let removals: [@Sendable () async throws -> Void] = [
                { try await backend.setMarkedUnread(false, in: room) },
                { try await backend.markAllRead(in: room) },
                { try await backend.markRead(message.id, in: room) },
                { try await backend.send(Fixtures.outgoing("More", transaction: "more"), to: room) },
            ]
            for remove in removals {
                try await backend.setMarkedUnread(true, in: room)
                try await isListed(true)
                try await remove()
                try await isListed(false)
            }
        },
        BackendContract("a draft is kept for its room until it is removed or sent") { backend in
            let room = try await backend.createRoom(named: "Room")
            let other = try await backend.createRoom(named: "Other")
            try expect(try await backend.draft(in: room) == nil, "none at first")
            try await backend.saveDraft(Fixtures.draft("half a"), in: room)
            try await backend.saveDraft(Fixtures.draft("half a thought"), in: room)
            try expect(try await backend.draft(in: room) == Fixtures.draft("half a thought"), "the last one is kept")
            try expect(try await backend.draft(in: other) == nil, "the other room has none")
            let listed = await summary(of: room, in: backend) { $0.draftPreview == "half a thought" }
            try expect(listed != nil, "it is in the list")
            try await backend.send(Fixtures.outgoing("half a thought, finished", transaction: "draft-1"), to: room)
            try expect(try await backend.draft(in: room) == nil, "sending removes it")
            try expect(await summary(of: room, in: backend) { $0.draftPreview == nil } != nil, "from the list, too")
            try await backend.saveDraft(Fixtures.draft("next"), in: room)
            try await backend.send(Fixtures.outgoing("half a thought, finished", transaction: "draft-1"), to: room)
            try expect(
                try await backend.draft(in: room) == Fixtures.draft("next"), "a repeated sending leaves the next")
            try await backend.saveDraft(nil, in: room)
            try expect(try await backend.draft(in: room) == nil, "nil removes it")
        },
    ]
}
