import ChatCore

extension BackendContract {
    static let messages: [BackendContract] = [
        BackendContract("what is sent is stored as it was typed, in order") { backend in
            let room = try await backend.createRoom(named: "Room")
            var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
            var last = Int64.min
            for text in ["one", "  two  \n\nlines ", "😀 **bold** <b>&\u{0301}", "e\u{0301}"] {
                let outgoing = Fixtures.outgoing(text)
                try await backend.send(outgoing, to: room)
                let told = try await sent(outgoing.transaction, in: &updates)
                try expect(Array(told.text.utf8) == Array(text.utf8), "the text is the same, byte for byte")
                try expect(told.position > last, "it comes after the one before")
                try expect(told.roomID == room && !told.isDeleted && told.editedAt == nil, "it is a fresh message")
                last = told.position
            }
        },
        BackendContract("a transaction is stored once") { backend in
            let room = try await backend.createRoom(named: "Room")
            let first = try await backend.send(Fixtures.outgoing("once", transaction: "same"), to: room)
            let again = try await backend.send(Fixtures.outgoing("twice?", transaction: "same"), to: room)
            try expect(first == again, "the first message comes back")
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages == [first], "there is one message")
            let other = try await backend.createRoom(named: "Other")
            let elsewhere = try await backend.send(Fixtures.outgoing("elsewhere", transaction: "same"), to: other)
            try expect(elsewhere.text == "elsewhere", "another room has transactions of its own")
        },
        BackendContract("a message needs text, and not too much") { backend in
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("Text"), to: room)
            let tooLong = String(repeating: "x", count: ChatLimits.messageBytes + 1)
            for (text, error) in [("", ChatError.emptyMessage), (" \n\t", .emptyMessage), (tooLong, .messageTooLong)] {
                try await expect(error) { try await backend.send(Fixtures.outgoing(text), to: room) }
                try await expect(error) { try await backend.edit(message.id, in: room, text: text) }
            }
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages == [message], "nothing was changed")
        },
        BackendContract("several messages are stored in their order, or none of them") { backend in
            let room = try await backend.createRoom(named: "Room")
            let first = Fixtures.outgoing("first", transaction: "several-1")
            let second = Fixtures.outgoing("second", transaction: "several-2")
            try await expect(.emptyMessage) {
                try await backend.send([first, Fixtures.outgoing("", transaction: "several-3")], to: room)
            }
            try await backend.send([first, second], to: room)
            try await backend.send([first, second], to: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.map(\.text) == ["first", "second"], "said \(page.messages.map(\.text))")
        },
        BackendContract("an edit changes the text in its place") { backend in
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("befor"), to: room)
            try await backend.send(Fixtures.outgoing("next"), to: room)
            var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
            _ = await updates.next()
            try await backend.edit(message.id, in: room, text: "before")
            let told = await updates.next { update in
                guard case .changed(let messages) = update, let message = messages.first else { return false }
                return message.text == "before" && message.pendingChange == nil
            }
            guard case .changed(let messages) = told, let edited = messages.first else {
                throw Violation(description: "the edit was not told")
            }
            try expect(edited.id == message.id && edited.position == message.position, "it is the same message")
            try expect(edited.editedAt != nil, "it is marked as edited")
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.first?.text == "before" && page.messages.count == 2, "it is stored")
        },
        BackendContract("a deletion leaves a placeholder and no text") { backend in
            let room = try await backend.createRoom(named: "Room")
            let first = try await backend.send(Fixtures.outgoing("first"), to: room)
            let second = try await backend.send(Fixtures.outgoing("second"), to: room)
            try await backend.delete(second.id, in: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.map(\.id) == [first.id, second.id], "its place stays")
            try expect(page.messages[1].isDeleted && page.messages[1].text.isEmpty, "its text is gone")
            let listed = await summary(of: room, in: backend) { $0.lastMessage?.text == "first" }
            try expect(listed != nil, "the list shows the one before")
            try await expect(.notFound) { try await backend.edit(second.id, in: room, text: "back?") }
            try await backend.delete(second.id, in: room)
            try await backend.delete(first.id, in: room)
            try expect(await summary(of: room, in: backend) { $0.lastMessage == nil } != nil, "the list shows none")
        },
    ]
}
