import Testing

/// Short forms of what `make soak` runs at length.
@Suite(.timeLimit(.minutes(3))) struct SoakTests {
    @Test func fiftyKillsLoseNothingThatWasAcknowledged() async throws {
        let outcome = try await SoakTool().run(["kills", "--count", "50", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"store-kills","value":50"#), "\(outcome.output)")
    }

    @Test func noDamageCrashes() async throws {
        let outcome = try await SoakTool().run(["damage", "--count", "60", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains(#""name":"store-damage","value":60"#), "\(outcome.output)")
    }
}
