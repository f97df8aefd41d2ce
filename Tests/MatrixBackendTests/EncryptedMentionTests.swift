import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// Encrypted edits that mention the user.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct EncryptedMentionTests {
    private let folder = TemporaryFolder()

    @Test(
        "An encrypted edit mentions the user by its decrypted content, also if its key comes late",
        arguments: [true, false])
    func edit(isLate: Bool) async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore(), devices: KnownDevices())
        let ann = try await account.peer()
        func counts() async throws -> [Int] {
            let summary = try #require(try await account.store.roomSummaries().first)
            return [summary.unreadCount, summary.mentionCount]
        }
        let key = try ann.key()
        try await account.sync([try ann.text("$1", "Tea?")], toDevice: [key])
        #expect(try await counts() == [1, 0])
        try ann.rotate()
        let later = try ann.key()
        let edit = try ann.event(
            "$2",
            [
                "msgtype": "m.text", "body": "* Tea, Me?", "m.new_content": ["msgtype": "m.text", "body": "Tea, Me?"],
                "m.mentions": ["user_ids": [.string(EncryptedAccount.user.rawValue)]],
            ], relation: ["rel_type": "m.replace", "event_id": "$1"])
        var arrivals = account.backend.arrivals().makeAsyncIterator()
        if isLate {
            try await account.sync([edit])
            #expect(try await counts() == [1, 0])
            try await account.sync(toDevice: [later])
        } else {
            try await account.sync([edit], toDevice: [later])
        }
        #expect(try await counts() == [1, 1])
        let arrival = try #require(await arrivals.next())
        #expect(arrival.message.text == "Tea, Me?" && arrival.level == .mention)
        try await account.sync([edit])
        #expect(try await counts() == [1, 1])
        await account.close()
    }
}
