import ChatTestSupport
import Testing

/// The short forms of `parlance-matrix-soak`.
@Suite(.timeLimit(.minutes(5))) struct MatrixSoakTests {
    /// Two processes, a homeserver of their own, and all of them killed.
    @Test func whatTwoUsersSayArrivesOnceAndInOrder() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run([
            "talk", "--messages", "80", "--client-kills", "2", "--server-kills", "1", "--faults", "10", "--data",
            ".build/synapse/talk",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("80 messages: 0 lost, 0 doubled, 0 timelines out of order"))
    }

    /// A proxy that is none is no hindrance to reach this computer.
    @Test func requestsLeaveNothingOpen() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run(
            ["requests", "--count", "200"], with: ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("0 open files more"))
    }

    /// Rules of what the user is told of, read twice.
    @Test func countsAreThoseOfTheRules() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run(["unread", "--count", "600", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
