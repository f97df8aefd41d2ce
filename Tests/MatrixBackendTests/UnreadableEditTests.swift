import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// Edits that come before their key.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnreadableEditTests {
    private let folder = TemporaryFolder()

    @Test("A message says that its latest edit cannot be read, until the key of the edit comes")
    func mark() async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let peer = try await account.peer()
        let key = try peer.key()
        try await account.sync([peer.text("$1", "Tea?")], toDevice: [key])
        #expect(try await account.message("$1")?.unreadableEdit == nil)
        try peer.rotate()
        let late = try peer.key()
        try await account.sync([peer.edit("$e", of: "$1", to: "Coffee?")])
        let marked = try await account.message("$1") { $0.unreadableEdit != nil }
        #expect(marked.text == "Tea?" && marked.unreadableEdit == .noKey && marked.editedAt == nil)
        try await account.sync(toDevice: [late])
        let edited = try await account.message("$1") { $0.unreadableEdit == nil }
        #expect(edited.text == "Coffee?")
        await account.close()
    }

    @Test(
        "A message that is requested says that its edit cannot be read, or what warns of the edit",
        arguments: [true, false])
    func requested(isReadable: Bool) async throws {
        let event = Mutex<JSONValue?>(nil)
        let account = try await EncryptedAccount.start(
            in: folder, MemoryCredentialStore(),
            answering: { $0.url.path.contains("/event/") ? event.withLock(\.self) : nil })
        let peer = try await account.peer()
        let key = try peer.key()
        try await account.sync(toDevice: [key])
        var message = try peer.text("$1", "Tea?").object ?? [:]
        if !isReadable { try peer.rotate() }
        let file: JSONValue = [
            "msgtype": "m.file", "body": "Coffee?", "filename": "a.txt", "url": "mxc://example.org/a",
        ]
        let edit = try peer.event(
            "$e", ["msgtype": "m.file", "body": "* Coffee?", "m.new_content": file],
            relation: ["rel_type": "m.replace", "event_id": "$1"])
        message["unsigned"] = ["m.relations": ["m.replace": edit]]
        let answer = JSONValue.object(message)
        event.withLock { $0 = answer }
        let found = try #require(try await account.backend.messages([MessageID("$1")], in: account.room).first)
        #expect(found.text == (isReadable ? "Coffee?" : "Tea?"))
        let (trust, reason): (MessageTrust?, SealReason?) = isReadable ? (.notEncrypted, nil) : (nil, .noKey)
        #expect(found.trust == trust && found.unreadableEdit == reason)
        await account.close()
    }

    @Test("The same edit by anyone but the message's sender is no edit")
    func forged() async throws {
        let account = try await EncryptedAccount.start(in: folder, MemoryCredentialStore())
        let peer = try await account.peer()
        let key = try peer.key()
        try await account.sync([peer.text("$1", "Tea?")], toDevice: [key])
        try peer.rotate()
        var forged = try peer.edit("$e", of: "$1", to: "Coffee?").object ?? [:]
        forged["sender"] = .string(EncryptedAccount.user.rawValue)
        try await account.sync([.object(forged)])
        #expect(try await account.message("$1")?.unreadableEdit == nil)
        await account.close()
    }
}
