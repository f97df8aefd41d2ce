import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// What notifies of messages that are decrypted late.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct LateArrivalTests {
    private let folder = TemporaryFolder()

    @Test("A message that is decrypted late notifies with the sound, or none, of the push rule for its text")
    func sounds() async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore(), devices: KnownDevices())
        let ann = try await account.peer()
        let key = try ann.key()
        let keyword: JSONValue = [
            "rule_id": "tea", "pattern": "tea",
            "actions": ["notify", ["set_tweak": "highlight"], ["set_tweak": "sound", "value": "default"]],
        ]
        let message: JSONValue = [
            "rule_id": ".m.rule.message", "actions": ["notify"],
            "conditions": [["kind": "event_match", "key": "type", "pattern": "m.room.message"]],
        ]
        try await account.sync(accountData: [
            ["type": "m.push_rules", "content": ["global": ["content": [keyword], "underride": [message]]]]
        ])
        var arrivals = account.backend.arrivals().makeAsyncIterator()
        try await account.sync([try ann.text("$1", "Some tea?"), try ann.text("$2", "Hello")])
        try await account.sync(toDevice: [key])
        var silent: [String: Bool] = [:]
        for _ in 0..<2 {
            let arrival = try #require(await arrivals.next())
            silent[arrival.message.text] = arrival.isSilent
        }
        #expect(silent == ["Some tea?": false, "Hello": true])
        await account.close()
    }

    @Test(
        "A mention from before the start does not notify when its key comes with another page of to-device messages",
        arguments: [true, false])
    func backlog(isFull: Bool) async throws {
        let (credentials, devices) = (MemoryCredentialStore(), KnownDevices())
        var account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let ann = try await account.peer()
        await account.close()

        account = try await EncryptedAccount.start(in: folder, credentials, devices: devices)
        let key = try ann.key()
        let mention = try ann.event(
            "$1",
            [
                "msgtype": "m.text", "body": "Me, tea?",
                "m.mentions": ["user_ids": [.string(EncryptedAccount.user.rawValue)]],
            ])
        let other: JSONValue = ["type": "m.dummy", "sender": "@ann:example.org", "content": [:]]
        var arrivals = account.backend.arrivals().makeAsyncIterator()
        try await account.sync([mention], toDevice: Array(repeating: other, count: isFull ? 100 : 99))
        try await account.sync(toDevice: [key])
        #expect(try await account.message("$1")?.text == "Me, tea?")
        try await account.sync([try ann.text("$2", "Now")])
        let first = try #require(await arrivals.next())
        #expect(first.message.id.rawValue == (isFull ? "$2" : "$1") && !first.isMissed)
        await account.close()
    }
}
