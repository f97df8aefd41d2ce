import ChatTestSupport
import Testing

/// Short versions of `make soak`.
@Suite(.timeLimit(.minutes(10))) struct SoakTests {
    @Test func fiftyKillsLoseNoAcknowledgedWrite() async throws {
        let outcome = try await SoakTool("parlance-store-soak").run(["kills", "--count", "50", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"store-kills","value":50"#), "\(outcome.output)")
    }

    @Test func damagedFilesNeverCauseACrash() async throws {
        let outcome = try await SoakTool("parlance-store-soak").run(["damage", "--count", "30", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"store-damage","value":30"#), "\(outcome.output)")
    }

    @Test func queuedMessagesAreSentOnceAndInOrder() async throws {
        let outcome = try await SoakTool("parlance-store-soak").run([
            "outbox", "--count", "400", "--kills", "6", "--seed", "2026",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("400 messages: 0 lost, 0 doubled, 0 rooms out of order"), "\(outcome.output)")
    }

    @Test func anySyncHistoryConvergesToTheServersState() async throws {
        let outcome = try await SoakTool("parlance-store-soak").run(["sync", "--count", "60", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"sync-histories","value":60"#), "\(outcome.output)")
    }

    @Test func unreadCountsMatchTheReference() async throws {
        let outcome = try await SoakTool("parlance-store-soak").run(["unread", "--count", "300", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"unread-counts","value":300"#), "\(outcome.output)")
    }
}
