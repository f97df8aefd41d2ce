import ChatTestSupport
import Testing
import ToolSupport

/// Short versions of `parlance-matrix-soak`.
@Suite(.timeLimit(.minutes(10))) struct MatrixSoakTests {
    /// Two client processes and their own homeserver, all of which are killed during the run.
    @Test func messagesOfTwoUsersArriveOnceAndInOrder() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run([
            "talk", "--messages", "80", "--client-kills", "2", "--server-kills", "1", "--faults", "10", "--data",
            ".build/synapse/talk",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("80 messages: 0 lost, 0 doubled, 0 timelines out of order"))
    }

    /// A process is killed once at each step of a key exchange, and then the server.
    @Test(.enabled(if: EncryptionSetting.isOn)) func noKeyIsLostByKills() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run([
            "keys", "--client-kills", "6", "--server-kills", "1", "--data", ".build/synapse/keys",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("6 kills at their moment"))
        #expect(outcome.output.contains("1 kills of the server"))
    }

    /// Otherwise a run without losses would prove nothing.
    @Test(.enabled(if: EncryptionSetting.isOn)) func aLostKeyIsFound() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run([
            "keys", "--plant", "--client-kills", "1", "--server-kills", "0", "--data", ".build/synapse/keys-planted",
        ])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("planted: the backup does not have the key"))
        #expect(outcome.output.contains("the backup: sealed") || outcome.output.contains("the backup: missing"))
    }

    /// A broken proxy setting does not affect requests to localhost.
    @Test func requestsLeakNoFileDescriptors() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run(
            ["requests", "--count", "200"], with: ["http_proxy": "http://127.0.0.1:1", "no_proxy": ""])
        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("0 open files more"))
    }

    /// Compares unread counts with an independent implementation of push rules.
    @Test func unreadCountsMatchThePushRules() async throws {
        let outcome = try await SoakTool("parlance-matrix-soak").run(["unread", "--count", "600", "--seed", "2026"])
        #expect(outcome.status == 0, "\(outcome.output)")
    }
}
