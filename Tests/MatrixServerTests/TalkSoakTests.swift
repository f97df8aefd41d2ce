import ChatTestSupport
import Testing

/// The short form of `parlance-matrix-soak talk`: two processes, a homeserver of their own, and all of them killed.
@Suite(.timeLimit(.minutes(5))) struct TalkSoakTests {
    @Test func whatTwoUsersSayArrivesOnceAndInOrder() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run([
            "talk", "--messages", "100", "--client-kills", "2", "--server-kills", "1", "--faults", "10", "--data",
            ".build/synapse/talk",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("100 messages: 0 lost, 0 doubled, 0 timelines out of order"))
    }
}
