import ChatCore
import ChatTestSupport
import Testing

@testable import ChatOutbox

/// Retries and their delays, on a manual clock.
@Suite(.timeLimit(.minutes(10))) struct OutboxRetryTests {
    @Test func backOffDoublesBetweenItsLimits() {
        let backOff = BackOff()
        let whole = (1...9).map { backOff.delay(after: $0, draw: 1) }
        #expect(whole == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
        let least = (1...9).map { backOff.delay(after: $0, draw: 0) }
        #expect(least == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { Duration.seconds($0) })
        for attempts in [-1, 0, 1, 5, 1000, .max] {
            for draw in [-1, 0, 0.3, 1, 2] {
                #expect((.milliseconds(500) ... .seconds(60)).contains(backOff.delay(after: attempts, draw: draw)))
            }
        }
    }

    @Test func retriesWaitForTheBackOff() async throws {
        let harness = try await OutboxHarness()
        harness.server.fail(with: .unreachable, .unreachable)
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        // One timer for the next attempt, one for the five-minute mark.
        await harness.clock.waitForSleepers(2)
        harness.clock.advance(by: .milliseconds(999))
        #expect(harness.server.calls.count == 1)
        harness.clock.advance(by: .milliseconds(1))
        try await harness.items { $0.first?.state == .retrying(attempts: 2) }
        await harness.clock.waitForSleepers(2)
        harness.clock.advance(by: .seconds(2))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls == ["t send text", "t send text", "t send text"])
    }

    @Test("A backend that cancels by itself, as one that is closing, is asked again after a delay")
    func backendCancels() async throws {
        let harness = try await OutboxHarness()
        harness.server.cancel(2)
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        await harness.clock.waitForSleepers(2)
        #expect(harness.server.calls.count == 1)
        harness.clock.advance(by: .seconds(1))
        try await harness.items { $0.first?.state == .retrying(attempts: 2) }
        await harness.clock.waitForSleepers(2)
        harness.clock.advance(by: .seconds(2))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.count == 3)
    }

    @Test("A backend learns whether an earlier run may have attempted a request")
    func attemptsOfEarlierRuns() async throws {
        var harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        harness = try await harness.restarted(isOnline: false)
        harness.server.fail(with: .unreachable, .unreachable)
        await harness.outbox.setOnline(true)
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        try await harness.outbox.retry(in: harness.room)
        try await harness.items { $0.first?.state == .retrying(attempts: 1) && harness.server.calls.count == 2 }
        harness = try await harness.restarted()
        try await harness.waitUntilEmpty()
        #expect(harness.server.wasAttempted == [false, false, true])
    }

    @Test func retryAfterFromTheServerAppliesToAllRooms() async throws {
        let harness = try await OutboxHarness(draw: 0)
        harness.server.fail(with: .busy(retryAfter: .seconds(90)))
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        try await harness.outbox.send(
            WrittenMessage("other"), transaction: TransactionID("o"), to: RoomID("other"))
        // Timers for two attempts and for the mark.
        await harness.clock.waitForSleepers(3)
        try await harness.outbox.retryAll()
        await harness.clock.waitForSleepers(3)
        harness.clock.advance(by: .milliseconds(89_999))
        #expect(harness.server.calls.count == 1)
        harness.clock.advance(by: .milliseconds(1))
        try await harness.waitUntilEmpty()
        var other = harness.outbox.items(in: RoomID("other")).makeAsyncIterator()
        #expect(await other.next(where: \.isEmpty) != nil)
        #expect(Set(harness.server.calls) == ["t send text", "o send other"])
    }

    @Test("A server that is busy and requires no delay is asked again after the back-off")
    func busyWithoutDelay() async throws {
        let harness = try await OutboxHarness(draw: 0)
        harness.server.fail(with: .busy(retryAfter: .zero))
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        // One timer for the next attempt, one for the five-minute mark.
        await harness.clock.waitForSleepers(2)
        harness.clock.advance(by: .milliseconds(499))
        #expect(harness.server.calls.count == 1)
        harness.clock.advance(by: .milliseconds(1))
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.count == 2)
    }

    @Test func retryAndReconnectingSkipTheBackOff() async throws {
        let harness = try await OutboxHarness()
        harness.server.fail(with: .unreachable, .unreachable)
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        await harness.clock.waitForSleepers(2)
        try await harness.outbox.retry(TransactionID("t"), in: harness.room)
        try await harness.items { $0.first?.state == .retrying(attempts: 1) && harness.server.calls.count == 2 }
        await harness.outbox.setOnline(false)
        await harness.outbox.setOnline(true)
        try await harness.waitUntilEmpty()
        #expect(harness.server.calls.count == 3)
    }

    @Test("What waits after a failed attempt is retried on demand; without such, nothing is")
    func delayedRequests() async throws {
        let harness = try await OutboxHarness()
        harness.server.fail(with: .unreachable, .rejected(reason: "no"))
        try await harness.send("text", as: "t")
        try await harness.items { $0.first?.state == .retrying(attempts: 1) }
        await harness.clock.waitForSleepers(2)
        await harness.outbox.retryDelayed()
        try await harness.items { $0.first?.state == .failed(reason: "no") }
        #expect(harness.server.calls.count == 2)
        await harness.outbox.retryDelayed()
        #expect(try await harness.items { _ in true }.map(\.state) == [.failed(reason: "no")])
        #expect(harness.server.calls.count == 2)
    }

    @Test func nothingIsSentWhileOffline() async throws {
        let harness = try await OutboxHarness(isOnline: false)
        try await harness.send("text", as: "t")
        #expect(try await harness.items { !$0.isEmpty }.map(\.state) == [.waiting])
        harness.clock.advance(by: .seconds(1000))
        #expect(harness.server.calls.isEmpty)
        #expect(harness.clock.sleeperCount == 0)
    }

    @Test func messagesUnsentAfterFiveMinutesOnlineAreOverdue() async throws {
        let harness = try await OutboxHarness()
        harness.server.suspend()
        try await harness.send("first", as: "t")
        await harness.clock.waitForSleepers(1)
        harness.clock.advance(by: .seconds(200))
        // Offline time does not count.
        await harness.outbox.setOnline(false)
        harness.clock.advance(by: .seconds(10_000))
        await harness.outbox.setOnline(true)
        try await harness.send("second", as: "u")
        await harness.clock.waitForSleepers(1)
        harness.clock.advance(by: .milliseconds(99_999))
        #expect(try await harness.items { _ in true }.map(\.isOverdue) == [false, false])
        harness.clock.advance(by: .milliseconds(1))
        try await harness.items { $0.map(\.isOverdue) == [true, false] }
        await harness.clock.waitForSleepers(1)
        harness.clock.advance(by: .seconds(200))
        try await harness.items { $0.map(\.isOverdue) == [true, true] }
        harness.server.release()
        try await harness.waitUntilEmpty()
    }
}
