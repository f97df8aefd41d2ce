import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import ChatStore
@testable import MatrixBackend

/// What is published of a sync response that is stored, although something cannot be read afterwards.
@Suite(.timeLimit(.minutes(10))) struct SyncReadFailureTests {
    private static let setting = "sync"
    private static let gapped = RoomID("!gapped:example.org")
    private static let invited = RoomID("!invited:example.org")
    private let room = AccountParts.room

    private func writer(_ parts: AccountParts) -> SyncWriter {
        let status = SyncStatus()
        status.hasCaughtUp = true
        return SyncWriter(
            context: parts.context, writer: parts.writer, opener: parts.opener, sealed: parts.sealed,
            entered: EnteredRooms(), status: status, arrivals: ArrivalFeed()
        ) { _ in }
    }

    /// Updates of a room with a gap, of one without, and an invitation.
    private func update() throws -> SyncUpdate {
        var (first, second, third) = (RoomUpdate(id: Self.gapped), RoomUpdate(id: room), RoomUpdate(id: Self.invited))
        first.timeline = [try #require(MatrixEvent(Events.text("$g2", "Later")))]
        first.gap = "p2"
        second.timeline = [try #require(MatrixEvent(Events.text("$2", "Hello")))]
        third.membership = .invited
        return SyncUpdate(token: "s2", rooms: [first, second, third])
    }

    private func texts(_ updates: inout AsyncStream<TimelineUpdate>.Iterator) async -> [String] {
        var texts: [String] = []
        while let update = await updates.next(isolation: #isolation) {
            if case .changed(let messages) = update { texts += messages.map(\.text) }
        }
        return texts
    }

    @Test("Whichever access fails, all rooms of a stored update are published, and invitations at least by the next")
    func publishing() async throws {
        var number = 0
        var count = 0
        repeat {
            number += 1
            let parts = try await AccountParts.make()
            var batch = RoomBatch(
                id: Self.gapped, createdAt: Fixtures.date, events: [AccountParts.message("$g1", at: 0)])
            batch.state = .unencrypted
            _ = try await parts.store.apply(SyncBatch(rooms: [batch]))
            var (gapped, updates) = (await parts.open(Self.gapped), await parts.open())
            let failing = number
            let accesses = Mutex(0)
            parts.store.beforeAccess.withLock {
                $0 = {
                    let fails = accesses.withLock { count in
                        count += 1
                        return count == failing
                    }
                    if fails { throw ChatError.storage(reason: "failed on purpose") }
                }
            }
            // It may fail.
            try? await writer(parts).write(update(), as: Self.setting)
            count = accesses.withLock { $0 }
            parts.store.beforeAccess.withLock { $0 = {} }
            if try await parts.store.setting(Self.setting) == "s2" {
                try await writer(parts).write(SyncUpdate(token: "s3"), as: Self.setting)
                #expect(parts.writer.invitations.value.map(\.room) == [Self.invited], "access \(number)")
                parts.writer.timelines.finish()
                let (shown, afterGap) = (await texts(&updates), await texts(&gapped))
                #expect(shown == ["Hello"], "access \(number)")
                #expect(afterGap.isEmpty, "access \(number): what follows a gap does not continue")
            }
            await parts.store.close()
        } while number <= count
        #expect(number > 5)
    }
}
