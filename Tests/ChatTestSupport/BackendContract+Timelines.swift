import ChatCore

extension BackendContract {
    static let timelines: [BackendContract] = [
        BackendContract("pages meet without gaps or repetitions") { backend in
            let room = try await backend.createRoom(named: "Room")
            var sent: [MessageID] = []
            for number in 1...25 { sent.append(try await backend.send(Fixtures.outgoing("\(number)"), to: room).id) }
            var updates = backend.timeline(of: room, limit: 10).makeAsyncIterator()
            guard case .opened(var page, let members, let readUpTo) = await updates.next() else {
                throw Violation(description: "the first update opens")
            }
            try expect(members.filter { $0.kind == .own }.count == 1, "the user is a member")
            try expect(readUpTo == nil, "nothing was marked as read")
            var all = page.messages.map(\.id)
            while page.hasOlder {
                let first = try require(page.messages.first, "a page before which there is more is not empty")
                page = try await backend.messages(in: room, before: first.position, limit: 10)
                try expect(page.messages.count <= 10, "at most as many as asked for")
                all = page.messages.map(\.id) + all
            }
            try expect(all == sent, "all are there once, oldest first")
            let exact = try await backend.messages(in: room, before: .max, limit: 25)
            try expect(exact.messages.count == 25 && !exact.hasOlder, "a page that holds all has nothing before it")
            let none = try await backend.messages(in: room, before: .max, limit: 0)
            try expect(none.messages.isEmpty && none.hasOlder, "an empty page has all before it")
        },
        BackendContract("two observers are told the same, and one that left is not missed") { backend in
            let room = try await backend.createRoom(named: "Room")
            var first = backend.timeline(of: room, limit: 5).makeAsyncIterator()
            var second = backend.timeline(of: room, limit: 5).makeAsyncIterator()
            do {
                var third = backend.timeline(of: room, limit: 5).makeAsyncIterator()
                _ = await third.next()
            }
            _ = await first.next()
            _ = await second.next()
            var told: [TimelineUpdate] = []
            for number in 1...3 { try await backend.send(Fixtures.outgoing("\(number)"), to: room) }
            for _ in 1...3 { told.append(try require(await first.next(), "an update")) }
            for update in told { try expect(await second.next() == update, "the same update") }
        },
        BackendContract("a stream that opens amid sending misses and repeats nothing") { backend in
            let room = try await backend.createRoom(named: "Room")
            async let sending: Void = {
                for number in 1...20 {
                    try await backend.send(Fixtures.outgoing("\(number)", transaction: "t\(number)"), to: room)
                }
            }()
            var updates = backend.timeline(of: room, limit: 50).makeAsyncIterator()
            var texts: [String] = []
            while texts.last != "20", let update = await updates.next() {
                // A message is there before it is sent, too.
                let messages =
                    switch update {
                    case .opened(let page, _, _): page.messages
                    case .changed(let messages): messages
                    default: [Message]()
                    }
                texts += messages.filter { $0.delivery == .sent }.map(\.text)
            }
            try await sending
            try expect(texts == (1...20).map(String.init), "each once, in order: \(texts)")
        },
        BackendContract("the read marker moves forward only") { backend in
            let room = try await backend.createRoom(named: "Room")
            let first = try await backend.send(Fixtures.outgoing("1"), to: room)
            let second = try await backend.send(Fixtures.outgoing("2"), to: room)
            for message in [second, first] {
                try await backend.markRead(message.id, in: room)
                var updates = backend.timeline(of: room, limit: 5).makeAsyncIterator()
                guard case .opened(_, _, let readUpTo) = await updates.next() else {
                    throw Violation(description: "the first update opens")
                }
                try expect(readUpTo == second.id, "the marker is at the second message")
            }
        },
        BackendContract("leaving a room closes its timelines") { backend in
            let room = try await backend.createRoom(named: "Room")
            try await backend.saveDraft(Fixtures.draft("unsent"), in: room)
            try await backend.send(Fixtures.outgoing("sent"), to: room)
            var updates = backend.timeline(of: room, limit: 5).makeAsyncIterator()
            _ = await updates.next()
            try await backend.leaveRoom(room)
            try expect(await updates.next { $0 == .closed } != nil, "it is told")
            try expect(await updates.next() == nil, "and the stream ends")
            try await expect(.notFound) { try await backend.send(Fixtures.outgoing("late"), to: room) }
            try await expect(.notFound) { _ = try await backend.draft(in: room) }
        },
    ]
}
