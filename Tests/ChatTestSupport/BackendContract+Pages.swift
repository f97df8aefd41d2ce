import ChatCore
import Foundation

extension BackendContract {
    static let pages: [BackendContract] = [
        BackendContract("pages go both ways and meet") { backend in
            let (room, sent) = try await roomOf(25, in: backend)
            var page = try await backend.messages(in: room, around: .message(sent[12]), limit: 6)
            try expect(page.messages.map(\.id) == Array(sent[9..<15]), "the target is in the middle")
            try expect(page.hasOlder && page.hasNewer, "there is more on both sides")
            var all = page.messages.map(\.id)
            while page.hasNewer {
                let last = try require(page.messages.last, "a page after which there is more is not empty")
                page = try await backend.messages(in: room, after: last.position, limit: 6)
                try expect(page.messages.count <= 6 && page.hasOlder, "at most as many as asked for")
                all += page.messages.map(\.id)
            }
            try expect(all == Array(sent[9...]), "to the newest, each once, in order")
            let before = try await backend.messages(in: room, before: page.messages[0].position, limit: 3)
            try expect(before.hasNewer && before.hasOlder, "what is before a message has that after it")
            let past = try await backend.messages(in: room, after: .max, limit: 3)
            try expect(past.messages.isEmpty && past.hasOlder && !past.hasNewer, "nothing is after all")
        },
        BackendContract("a page around a message at an end is as long as another") { backend in
            let (room, sent) = try await roomOf(9, in: backend)
            for (target, expected) in [(0, 0..<4), (1, 0..<4), (8, 5..<9), (7, 5..<9)] {
                let page = try await backend.messages(in: room, around: .message(sent[target]), limit: 4)
                try expect(page.messages.map(\.id) == Array(sent[expected]), "around \(target)")
                try expect(page.hasOlder == (expected.lowerBound > 0), "older than \(expected)")
                try expect(page.hasNewer == (expected.upperBound < 9), "newer than \(expected)")
            }
            try await expect(.notFound) {
                _ = try await backend.messages(in: room, around: .message(MessageID("none")), limit: 4)
            }
        },
        BackendContract("a date leads to the first message since, or the newest") { backend in
            let (room, sent) = try await roomOf(9, in: backend)
            let old = try await backend.messages(in: room, around: .date(.distantPast), limit: 3)
            try expect(old.messages.map(\.id) == Array(sent[..<3]), "the first")
            let new = try await backend.messages(in: room, around: .date(.distantFuture), limit: 3)
            try expect(new.messages.map(\.id) == Array(sent[6...]), "the newest")
            let empty = try await backend.createRoom(named: "Empty")
            let none = try await backend.messages(in: empty, around: .date(.distantPast), limit: 3)
            try expect(none == TimelinePage(messages: [], hasOlder: false), "nothing")
        },
        BackendContract("messages are found by their identifiers") { backend in
            let (room, sent) = try await roomOf(3, in: backend)
            let found = try await backend.messages([sent[2], MessageID("none"), sent[0]], in: room)
            try expect(Set(found.map(\.id)) == [sent[0], sent[2]], "those that there are")
            let other = try await backend.createRoom(named: "Other")
            try expect(try await backend.messages([sent[0]], in: other).isEmpty, "only of the room")
        },
        BackendContract("a reply tells what it answers") { backend in
            let (room, sent) = try await roomOf(2, in: backend)
            let reply = (TransactionID("reply"), WrittenMessage("Yes", replyTo: sent[0]))
            try await backend.send(reply, to: room)
            let page = try await backend.messages(in: room, before: .max, limit: 5)
            try expect(page.messages.map(\.replyTo) == [nil, nil, sent[0]], "it and no other")
        },
        BackendContract("where one reads is kept") { backend in
            let (room, sent) = try await roomOf(2, in: backend)
            try expect(try await backend.scrollPosition(in: room) == nil, "nowhere at first")
            let place = ScrollPosition(message: sent[0], offset: -12.5)
            try await backend.saveScrollPosition(place, in: room)
            try expect(try await backend.scrollPosition(in: room) == place, "to the fraction of a pixel")
            try await backend.saveScrollPosition(nil, in: room)
            try expect(try await backend.scrollPosition(in: room) == nil, "and forgotten")
        },
    ]

    /// Creates a room with `count` messages.
    private static func roomOf(_ count: Int, in backend: any ChatService) async throws -> (RoomID, [MessageID]) {
        let room = try await backend.createRoom(named: "Room")
        var sent: [MessageID] = []
        for number in 1...count { sent.append(try await backend.send(Fixtures.outgoing("\(number)"), to: room).id) }
        return (room, sent)
    }
}
