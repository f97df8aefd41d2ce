import ChatCore
import Foundation

extension BackendContract {
    static let annotations: [BackendContract] = [
        BackendContract("a reaction is told, given once, and taken away") { backend in
            guard backend.capabilities.contains(.reactions) else { return }
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("Text"), to: room)
            for (isGiven, expected) in [(true, 1), (true, 1), (false, 0), (false, 0)] {
                try await backend.react("👍", isAdded: isGiven, to: message.id, in: room)
                let found = try await backend.messages([message.id], in: room).first
                try expect(found?.reactions.count == expected, "\(isGiven) leaves \(expected)")
                if isGiven { try expect(found?.reactions.first?.senders == [message.sender], "it is by the user") }
            }
            try await backend.react("👍", isAdded: true, to: message.id, in: room)
            var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
            guard case .opened(let page, _, _)? = await updates.next() else {
                throw Violation(description: "no opening")
            }
            try expect(page.messages.last?.reactions.map(\.text) == ["👍"], "a page has it")
            try await backend.react("🎉", isAdded: true, to: message.id, in: room)
            guard case .changed(let changed)? = await updates.next() else {
                throw Violation(description: "not told")
            }
            try expect(changed.first?.reactions.map(\.text) == ["👍", "🎉"], "in the order in which they were given")
        },
        BackendContract("what is no reaction, or to no message, changes nothing") { backend in
            guard backend.capabilities.contains(.reactions) else { return }
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("Text"), to: room)
            for text in ["", " ", "a\nb", " x", String(repeating: "x", count: ChatLimits.reactionLength + 1)] {
                try await expect(.invalidReaction) {
                    try await backend.react(text, isAdded: true, to: message.id, in: room)
                }
            }
            try await expect(.notFound) {
                try await backend.react("👍", isAdded: true, to: MessageID("none"), in: room)
            }
            try await backend.react("👍", isAdded: true, to: message.id, in: room)
            try await backend.delete(message.id, in: room)
            let left = try await backend.messages([message.id], in: room).first
            try expect(left?.reactions == [], "a deleted message has none")
            try await expect(.notFound) {
                try await backend.react("👍", isAdded: true, to: message.id, in: room)
            }
        },
        BackendContract("what a message said before its edits is kept, oldest first") { backend in
            guard backend.capabilities.contains(.editHistory) else { return }
            let room = try await backend.createRoom(named: "Room")
            let message = try await backend.send(Fixtures.outgoing("one"), to: room)
            try expect(try await backend.revisions(of: message.id, in: room).isEmpty, "it was never edited")
            for text in ["two", "three"] { try await backend.edit(message.id, in: room, text: text) }
            let before = try await backend.revisions(of: message.id, in: room)
            try expect(before.map(\.text) == ["one", "two"], "said \(before.map(\.text))")
            try await backend.delete(message.id, in: room)
            try expect(try await backend.revisions(of: message.id, in: room).isEmpty, "a deletion takes all of it")
            try await expect(.notFound) { _ = try await backend.revisions(of: MessageID("none"), in: room) }
        },
        BackendContract("what does not come from the composer leaves the draft") { backend in
            let room = try await backend.createRoom(named: "Room")
            try await backend.saveDraft(SavedDraft(data: Data([1]), preview: "draft"), in: room)
            var message = Fixtures.outgoing("forwarded")
            message.message.origin = .forwarded
            try await backend.send(message, to: room)
            try expect(try await backend.draft(in: room)?.preview == "draft", "the draft is still there")
            try await backend.send(Fixtures.outgoing("sent"), to: room)
            try expect(try await backend.draft(in: room) == nil, "sending takes it")
        },
    ]
}
