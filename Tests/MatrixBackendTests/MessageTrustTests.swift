import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct MessageTrustTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()

    @Test("Unencrypted messages of an encrypted room are marked, whatever their time and type")
    func clearMessage() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let ann = try await account.peer()
        let known = Int64(Fixtures.date.timeIntervalSince1970 * 1000)
        let body: JSONValue = ["msgtype": "m.text", "body": "x"]
        let question: JSONValue = ["body": "Which?"]
        try await account.sync(
            [
                Events.event("$1", "m.room.message", body, by: "@ann:example.org", at: 1),
                Events.event("$2", "m.room.message", body, by: "@ann:example.org", at: known + 1),
                try ann.event("$3", body, at: known + 2),
                Events.event("$4", "org.example.x", ["body": "Pay to"], by: "@ann:example.org", at: 1),
                Events.event("$5", "m.poll.start", ["m.poll": ["question": question]], by: "@ann:example.org", at: 1),
                Events.event("$6", "org.example.x", ["m.text": "y"], by: "@ann:example.org", at: known + 3),
            ], toDevice: [ann.key()])
        let mark = MessageTrust.notEncrypted
        #expect(try await account.messages.map(\.trust) == [mark, mark, nil, mark, mark, mark])
        await account.close()
    }

    @Test("An encrypted message or edit with an unencrypted file is marked; a sticker is not")
    func clearFile() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let ann = try await account.peer()
        let key = try ann.key()
        let file: JSONValue = [
            "msgtype": "m.file", "body": "A caption", "filename": "a.txt", "url": "mxc://example.org/a",
        ]
        let text: JSONValue = ["msgtype": "m.text", "body": "x"]
        try await account.sync(
            [
                try ann.event("$1", file),
                try ann.event("$2", ["body": "A cat", "url": "mxc://example.org/cat"], type: "m.sticker"),
                try ann.event("$3", text),
                try ann.event(
                    "$4", ["msgtype": "m.file", "body": "* A caption", "m.new_content": file],
                    relation: ["rel_type": "m.replace", "event_id": "$3"]),
            ], toDevice: [key])
        let mark = MessageTrust.notEncrypted
        #expect(try await account.messages.map(\.trust) == [mark, nil, mark])
        await account.close()
    }

    /// A message that claims to be older than all others.
    private static func clear(_ id: String) -> JSONValue { Events.text(id, id, at: 1) }

    @Test("What precedes the first encryption event is not marked, in its page and in those before it")
    func clearHistory() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials) { request in
            guard request.url.path.hasSuffix("/messages") else { return nil }
            // Newest first.
            if request.url.query()?.contains("from=p1") == true {
                return ["chunk": [Self.clear("$4"), Self.encryption, Events.text("$2", "2")], "end": "p2"]
            }
            return ["chunk": [Events.text("$1", "1")]]
        }
        let state = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" } + [Self.encryption]
        try await account.sync(
            [],
            [
                "state": ["events": .array(state)],
                "timeline": ["events": [Self.clear("$5")], "limited": true, "prev_batch": "p1"],
            ])
        while let gap = try await account.store.gaps(in: account.room).last {
            try await account.backend.reader.filler.fill(gap, in: account.room)
        }
        #expect(try await account.messages.map(\.id.rawValue) == ["$1", "$2", "$4", "$5"])
        #expect(try await account.messages.map(\.trust) == [nil, nil, .notEncrypted, .notEncrypted])
        await account.close()
    }

    private static let encryption = Events.event(
        "$on", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], at: 1_000_000, stateKey: "")

    @Test("An encryption event that replaces another proves nothing of what precedes it")
    func repeatedEncryption() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let again = Events.event(
            "$again", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: "",
            unsigned: ["replaces_state": "$on"])
        try await account.sync(
            EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" } + [Self.clear("$1"), again])
        #expect(try await account.messages.map(\.trust) == [.notEncrypted])
        await account.close()
    }

    @Test("What a jump has placed loses its mark once it is known to precede the encryption event")
    func clearHistoryAroundTarget() async throws {
        // Counting the unread messages would fill the gap before the jump.
        let hasJumped = Mutex(false)
        let account = try await EncryptedAccount.start(in: folder, credentials) { request in
            if request.url.path.contains("/context/") {
                return [
                    "events_before": [Events.text("$1", "1")], "event": Events.text("$2", "2"),
                    "events_after": [Events.text("$3", "3")], "start": "c1", "end": "c3",
                ]
            }
            guard request.url.path.hasSuffix("/messages"), hasJumped.withLock({ $0 }) else { return nil }
            // Newest first.
            return [
                "chunk": [Self.clear("$8"), Self.encryption, Events.text("$4", "4"), Events.text("$3", "3")],
                "end": "p3",
            ]
        }
        let state = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" } + [Self.encryption]
        try await account.sync(
            [],
            [
                "state": ["events": .array(state)],
                "timeline": ["events": [Events.text("$9", "9", at: 5000)], "limited": true, "prev_batch": "p9"],
            ])
        let target = TimelineTarget.message(MessageID("$2"))
        let page = try await account.backend.reader.messages(in: account.room, around: target, limit: 10)
        #expect(page.messages.map(\.trust) == [.notEncrypted, .notEncrypted, .notEncrypted])

        hasJumped.withLock { $0 = true }
        let gap = try #require(try await account.store.gaps(in: account.room).last)
        try await account.backend.reader.filler.fill(gap, in: account.room)
        let messages = try await account.messages
        #expect(messages.map(\.id.rawValue) == ["$1", "$2", "$3", "$4", "$8", "$9"])
        #expect(messages.map(\.trust) == [nil, nil, nil, nil, .notEncrypted, .notEncrypted])
        await account.close()
    }

    @Test("In a room that is known to be encrypted, an encryption event of a sync removes no mark")
    func laterEncryption() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        try await account.sync(EncryptedAccount.state)
        try await account.sync([Self.clear("$1")])
        try await account.sync([Self.clear("$2"), Self.encryption])
        #expect(try await account.messages.map(\.trust) == [.notEncrypted, .notEncrypted])
        await account.close()
    }

    /// Moves the file of the keys into a folder.
    private func moveKeys(to target: URL, from source: URL) throws {
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let names = try FileManager.default.contentsOfDirectory(atPath: source.path)
        for name in names where name.hasPrefix("keys.sqlite") {
            try FileManager.default.moveItem(at: source.appending(path: name), to: target.appending(path: name))
        }
    }

    /// A response with messages of Ann in the encrypted room and in one that is not encrypted.
    private func messages(_ number: Int, at time: Int64, state: Bool = false) -> JSONValue {
        let clearState = EncryptedAccount.state.filter { $0["type"] != "m.room.encryption" }
        let rooms = [(EncryptedAccount.room, EncryptedAccount.state), (Self.clearRoom, clearState)].map { room, known in
            let events = (state ? known : []) + [Events.text("$\(number)", "x", at: time)]
            return (room.rawValue, JSONValue.object(["timeline": ["events": .array(events)]]))
        }
        return [
            "next_batch": .string("clear\(number)"),
            "rooms": ["join": .object(Dictionary(rooms) { first, _ in first })],
        ]
    }

    private static let clearRoom = RoomID("!clear:example.org")

    private func trusts(_ account: EncryptedAccount, in room: RoomID) async throws -> [MessageTrust?] {
        try await account.store.messages(in: room, before: .max, limit: 100).messages
            .filter { $0.event == nil }.map(\.trust)
    }

    @Test("While the keys' file cannot be read, the history tells which unencrypted messages are marked")
    func clearMessageWithoutKeys() async throws {
        let known = Int64(Fixtures.date.timeIntervalSince1970 * 1000)
        let (place, aside) = (folder.path("store"), folder.path("aside"))
        var account = try await EncryptedAccount.start(in: folder, credentials)
        account.server.sync(messages(1, at: known - 1, state: true))
        try await account.server.waitUntilConsumed()
        #expect(try await trusts(account, in: account.room) == [.notEncrypted])
        await account.close()

        try moveKeys(to: aside, from: place)
        account = try await EncryptedAccount.start(in: folder, nil)
        account.server.sync(messages(2, at: known + 1))
        try await account.server.waitUntilConsumed()
        await account.close()

        // What was marked stays so, and what comes afterwards is judged by the keys' file again.
        try moveKeys(to: place, from: aside)
        account = try await EncryptedAccount.start(in: folder, credentials)
        account.server.sync(messages(3, at: known - 1))
        account.server.sync(messages(4, at: known + 2))
        try await account.server.waitUntilConsumed()
        let marked = try await trusts(account, in: account.room)
        #expect(marked.count == 4 && marked.allSatisfy { $0 == .notEncrypted })
        #expect(try await trusts(account, in: Self.clearRoom) == [nil, nil, nil, nil])
        await account.close()
    }

    @Test("The key of a session that arrives again while its messages are decrypted is used once more")
    @MainActor func keyArrivingAgain() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        try await account.sync(EncryptedAccount.state)
        let (backend, gate) = (account.backend, Gate())
        let session = SessionID(room: ExactText(account.room.rawValue), session: "session")
        let writing = Task { await backend.writer.serialized { await gate.pass() } }
        await eventually { gate.waiting == 1 }
        await backend.keys.noteArrived([session])
        let opening = Task { try await backend.sealed.openImported([session]) }
        while await !backend.keys.arrivedSessions.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
        await backend.keys.noteArrived([session])
        gate.open()
        await writing.value
        try await opening.value
        #expect(await backend.keys.arrivedSessions == [session])
        await account.close()
    }

    @Test("Retrying hidden messages waits for the write in progress, which may be about to store another one")
    @MainActor func hiddenMessageBeingStored() async throws {
        let account = try await EncryptedAccount.start(in: folder, credentials)
        let (backend, gate, finished) = (account.backend, Gate(), Recorder<Bool>())
        let ann = try await account.unknownPeer()
        try await account.sync(toDevice: [try ann.key()])
        let writing = Task { await backend.writer.serialized { await gate.pass() } }
        await eventually { gate.waiting == 1 }
        // Without a key of theirs, there is nothing to retry.
        try await backend.sealed.openConfirmed(of: ["@nobody:example.org"])
        let retrying = Task {
            try await backend.sealed.openConfirmed(of: ["@ann:example.org"])
            finished.record(true)
        }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(finished.values.isEmpty)
        gate.open()
        await writing.value
        try await retrying.value
        await account.close()
    }

    @Test("Before a sign-out, keys missing from the backup are counted, even while they cannot be opened")
    func keysWithoutBackup() async throws {
        var account = try await EncryptedAccount.start(in: folder, credentials)
        #expect(try await account.backend.keys.keysWithoutBackup() == 0)
        let ann = try await account.peer()
        try await account.sync([try ann.text("$1", "x")], toDevice: [try ann.key()])
        #expect(try await account.backend.keys.keysWithoutBackup() == 1)
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil)
        #expect(try await account.backend.keys.keysWithoutBackup() == 1)
        await account.close()
        let file = account.store.folder.appending(path: "keys.sqlite")
        for suffix in ["", "-wal", "-shm"] {
            // SQLite removes the write-ahead log with the last connection, so it may be missing.
            try? FileManager.default.removeItem(atPath: file.path + suffix)
        }
        account = try await EncryptedAccount.start(in: folder, nil)
        await #expect(throws: (any Error).self) { try await account.backend.keys.keysWithoutBackup() }
        await account.close()
    }
}
