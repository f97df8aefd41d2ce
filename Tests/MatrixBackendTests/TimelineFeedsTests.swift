import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatOutbox
@testable import MatrixBackend

/// The updates that a timeline's observers receive.
@Suite(.timeLimit(.minutes(10))) struct TimelineFeedsTests {
    private let room = AccountParts.room

    @Test("A timeline opens after its newest gap, with unsent messages; a stored message then replaces its echo")
    func echoReplaced() async throws {
        let parts = try await AccountParts.make()
        _ = parts.unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        var updates = await parts.open()
        guard case .opened(let page, let members, _)? = await updates.next() else {
            Issue.record("not opened")
            return
        }
        #expect(page.hasOlder && page.messages.map(\.text) == ["$1", "New"])
        #expect(members.contains { $0.displayName == "Me" })
        let batch = AccountParts.batch(events: [AccountParts.message("$2", at: 1, transaction: "t")])
        try await parts.writer.write(SyncBatch(rooms: [batch]))
        #expect(await updates.next() == .removed([LocalEchoes.id(of: TransactionID("t"))]))
        guard case .changed(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed.map(\.id.rawValue) == ["$2"])
        await parts.store.close()
    }

    @Test("A timeline that opens learns who is typing already")
    func typing() async throws {
        let parts = try await AccountParts.make()
        let timelines = parts.writer.timelines
        let (ann, bo) = (MemberID("@ann:example.org"), MemberID("@bo:example.org"))
        timelines.setTyping([ann], in: room)
        timelines.setTyping([bo], in: RoomID("!other:example.org"))
        var updates = await parts.open()
        _ = await updates.next()
        #expect(await updates.next() == .typing([ann]))
        timelines.setTyping([ann, bo], in: room)
        #expect(await updates.next() == .typing([ann, bo]))
        timelines.endTyping()
        #expect(await updates.next() == .typing([]))
        var later = await parts.open()
        _ = await later.next()
        timelines.publish(.encrypted, in: room)
        #expect(await later.next() == .encrypted, "nobody is typing any more")
        await parts.store.close()
    }

    @Test("Published messages include the user's pending changes")
    func pendingChanges() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let edit = AccountParts.item("e", .delete(.message(MessageID("$1"))))
        _ = parts.unsent.update([edit], in: room)
        parts.writer.timelines.publish(.changed(try await parts.store.messages([MessageID("$1")], in: room)), in: room)
        guard case .changed(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed.first?.isDeleted == true)
        await parts.store.close()
    }

    @Test("Only members whose appearance changes are published")
    func members() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let ann = Member(id: MemberID("@ann:example.org"), displayName: "Me", kind: .person)
        parts.writer.timelines.publish([ann], in: room)
        guard case .membersChanged(let changed)? = await updates.next() else {
            Issue.record("not published")
            return
        }
        #expect(changed.map(\.displayName) == ["Me (@ann:example.org)", "Me (@me:example.org)"])
        await parts.store.close()
    }

    @Test("Leaving a room closes its timeline and discards its unsent messages")
    func left() async throws {
        let parts = try await AccountParts.make()
        _ = parts.unsent.update([AccountParts.sent("New", transaction: "t")], in: room)
        var updates = await parts.open()
        _ = await updates.next()
        try await parts.writer.write(SyncBatch(rooms: [.left(room, at: Fixtures.date)]))
        #expect(await updates.next() == .closed)
        #expect(await updates.next() == nil)
        #expect(!parts.writer.timelines.isObserved(room) && parts.unsent.newest(in: room) == nil)
        await parts.store.close()
    }

    @Test("After a gap a timeline is reopened, with the messages after the gap")
    func behindGap() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        let batch = AccountParts.batch(events: [AccountParts.message("$9", at: 9)], gap: "p9")
        for change in try await parts.store.apply(SyncBatch(rooms: [batch])) {
            await parts.writer.reopen(after: change)
        }
        // A change of members may come first, because the store did not know the author.
        var next = await updates.next()
        if case .membersChanged? = next { next = await updates.next() }
        guard case .opened(let page, _, _)? = next else {
            Issue.record("not opened anew")
            return
        }
        #expect(page.messages.map(\.text) == ["$9"])
        await parts.store.close()
    }

    @Test("After the end, new streams end at once")
    func end() async throws {
        let parts = try await AccountParts.make()
        var updates = await parts.open()
        _ = await updates.next()
        parts.writer.finish()
        #expect(await updates.next() == nil)
        var later = await parts.open()
        #expect(await later.next() == nil)
        for await _ in parts.writer.invitations.values() { Issue.record("not ended") }
        for await _ in parts.writer.ownNames.names() { Issue.record("not ended") }
        await parts.store.close()
    }

    @Test("Invitations are published when a batch changes them")
    func invitations() async throws {
        let parts = try await AccountParts.make()
        var values = parts.writer.invitations.values().makeAsyncIterator()
        #expect(await values.next() == [])
        let invitation = Invitation(room: RoomID("!i:example.org"), receivedAt: Fixtures.date)
        var batch = SyncBatch()
        batch.invitations = [invitation]
        try await parts.writer.write(batch)
        #expect(await values.next()?.map(\.room) == [invitation.room])
        try await parts.writer.write(SyncBatch(rooms: [.left(invitation.room, at: Fixtures.date)]))
        #expect(await values.next() == [])
        await parts.store.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct ValueFeedTests {
    @Test("An observer receives the current value, then each different one, then the end")
    func values() async {
        let feed = ValueFeed(1)
        var values = feed.values().makeAsyncIterator()
        #expect(await values.next() == 1)
        #expect(!feed.set(1) && feed.set(2))
        #expect(await values.next() == 2)
        feed.finish()
        #expect(await values.next() == nil)
        #expect(!feed.set(3) && feed.value == 2)
    }

    @Test("An observer that has ended is released, although the value stays the same")
    func endedObservers() async {
        let feed = ValueFeed(1)
        let observer = Task {
            for await _ in feed.values() where Task.isCancelled { return }
        }
        while !feed.isObserved { await Task.yield() }
        observer.cancel()
        await observer.value
        while feed.isObserved { await Task.yield() }
        do {
            var values = feed.values().makeAsyncIterator()
            #expect(await values.next() == 1)
        }
        while feed.isObserved { await Task.yield() }
        feed.set(2)
        #expect(feed.value == 2)
    }

    @Test("A name is published to current observers only, even if repeated")
    func names() async {
        let own = OwnNames()
        own.publish("Before")
        var names = own.names().makeAsyncIterator()
        own.publish("Ann")
        #expect(await names.next() == "Ann")
        own.publish("Ann")
        #expect(await names.next() == "Ann")
    }
}
