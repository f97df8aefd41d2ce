import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@testable import ChatStore
@testable import MatrixBackend

/// Encrypted events appear in the timeline, decrypted or with the reason why they are sealed.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SealedMessageTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()
    private let room = EncryptedAccount.room

    private func start(
        answering: @escaping @Sendable (MatrixRequest) -> JSONValue? = { _ in nil }
    ) async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials, devices: devices, answering: answering)
    }

    // MARK: With a key

    @Test("Text, reply, edit and reaction are stored like unencrypted ones")
    func readAtOnce() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let reply: JSONValue = ["m.in_reply_to": ["event_id": "$1"]]
        let events = [
            try ann.text("$1", "Roses are red"), try ann.text("$2", "Violets are blue", relation: reply),
            try ann.edit("$3", of: "$1", to: "Roses were red"),
            Events.event(
                "$4", "m.reaction", ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$2", "key": "👍"]]),
        ]
        try await account.sync(events, toDevice: [key])
        let messages = try await account.messages
        #expect(messages.map(\.text) == ["Roses were red", "Violets are blue"])
        #expect(messages.map(\.kind) == [.text, .text] && messages.allSatisfy { $0.seal == nil })
        #expect(messages.last?.replyTo == MessageID("$1") && messages.last?.reactions.map(\.text) == ["👍"])
        #expect(try await account.found("violets") == [MessageID("$2")])
        #expect(try await account.store.roomSummaries().first?.unreadCount == 2)
        await account.close()
    }

    @Test("Push rules apply to the decrypted content")
    func mentions() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let rule: JSONValue = [
            "rule_id": "mention", "enabled": true, "default": true, "actions": ["notify", ["set_tweak": "highlight"]],
            "conditions": [
                [
                    "kind": "event_property_contains", "key": "content.m\\.mentions.user_ids",
                    "value": .string(EncryptedAccount.user.rawValue),
                ]
            ],
        ]
        let silence: JSONValue = [
            "rule_id": "silence", "enabled": true, "default": true, "actions": [], "conditions": [],
        ]
        let rules: JSONValue = [
            "type": "m.push_rules", "content": ["global": ["override": [rule, silence]]],
        ]
        try await account.sync(accountData: [rules])
        let mention: JSONValue = [
            "msgtype": "m.text", "body": "You", "m.mentions": ["user_ids": [.string(EncryptedAccount.user.rawValue)]],
        ]
        let late = try ann.event("$2", mention)
        try await account.sync([late])
        var summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.unreadCount == 0 && summary.mentionCount == 0, "nothing is known of it")
        try await account.sync([try ann.event("$3", mention)], toDevice: [key])
        _ = try await account.message("$2") { $0.seal == nil }
        summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.unreadCount == 2 && summary.mentionCount == 2)
        await account.close()
    }

    @Test("Decrypted events are never state, and redact nothing")
    func noState() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let events = [
            try ann.text("$1", "Stays"), try ann.event("$2", ["name": "Mine"], type: "m.room.name"),
            try ann.event("$3", ["redacts": "$1"], type: "m.room.redaction"),
            try ann.event("$4", ["membership": "leave"], type: "m.room.member"),
            try ann.event("$5", ["algorithm": "m.megolm.v1.aes-sha2"], type: "m.room.encrypted"),
            try ann.event("$6", ["ciphertext": "x"], type: "org.example.unknown"),
        ]
        try await account.sync(events, toDevice: [key])
        let messages = try await account.messages
        #expect(messages.map(\.id.rawValue) == ["$1", "$3", "$5"])
        #expect(messages[0].text == "Stays" && messages[1].seal == .damaged && messages[2].seal == .damaged)
        let summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.room.name != "Mine")
        #expect(try await account.store.members(of: room).allSatisfy { !$0.hasLeft })
        await account.close()
    }

    @Test("A relation within the ciphertext is ignored")
    func relationWithin() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let within = try ann.event(
            "$2",
            [
                "msgtype": "m.text", "body": "Mine", "m.new_content": ["msgtype": "m.text", "body": "x"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$1"],
            ])
        try await account.sync([try ann.text("$1", "First"), within], toDevice: [key])
        #expect(try await account.messages.map(\.text) == ["First", "Mine"])
        await account.close()
    }

    @Test("An unencrypted edit does not change an encrypted message, in either order", arguments: [false, true])
    func clearEdit(_ isFirst: Bool) async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let edit = Events.event(
            "$9", "m.room.message",
            [
                "msgtype": "m.text", "body": "* forged", "m.new_content": ["msgtype": "m.text", "body": "forged"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$1"],
            ])
        let events = [try ann.text("$1", "Sealed")]
        try await account.sync(isFirst ? [edit] + events : events + [edit], toDevice: [key])
        #expect(try await account.messages.map(\.text) == ["Sealed"])
        // The same applies to a message that is still sealed.
        try ann.rotate()
        let late = try ann.key()
        let other = Events.event(
            "$10", "m.room.message",
            [
                "msgtype": "m.text", "body": "* forged", "m.new_content": ["msgtype": "m.text", "body": "forged"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$2"],
            ])
        try await account.sync([try ann.text("$2", "Late"), other])
        #expect(try await account.message("$2")?.seal == .noKey)
        try await account.sync(toDevice: [late])
        #expect(try await account.messages.map(\.text) == ["Sealed", "Late"])
        await account.close()
    }

    @Test("A bundled edit applies only if it is encrypted")
    func bundledEdits() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        func bundling(_ edit: JSONValue) -> JSONValue { ["m.relations": ["m.replace": edit]] }
        let forged = Events.event(
            "$8", "m.room.message",
            [
                "msgtype": "m.text", "body": "* forged", "m.new_content": ["msgtype": "m.text", "body": "forged"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$2"],
            ])
        let edit = try ann.edit("$9", of: "$1", to: "Edited")
        let first = try ann.event("$1", ["msgtype": "m.text", "body": "First"], unsigned: bundling(edit))
        let second = try ann.event("$2", ["msgtype": "m.text", "body": "Second"], unsigned: bundling(forged))
        try await account.sync([first, second], toDevice: [key])
        #expect(try await account.messages.map(\.text) == ["Edited", "Second"])
        await account.close()
    }

    // MARK: Without one

    @Test("A late key turns the row into the message, in its place")
    func lateKey() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        try await account.sync([
            Events.text("$0", "Before"), try ann.text("$1", "Was sealed"),
            try ann.text("$2", "Answer", relation: ["m.in_reply_to": ["event_id": "$1"]]),
            Events.event(
                "$3", "m.reaction", ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$1", "key": "👍"]],
                by: "@bob:example.org"), try ann.edit("$4", of: "$2", to: "Edited answer"),
        ])
        let sealed = try #require(try await account.message("$1"))
        #expect(sealed.kind == .sealed && sealed.seal == .noKey && sealed.text.isEmpty)
        #expect(sealed.reactions.map(\.text) == ["👍"])
        #expect(try await account.message("$2")?.replyTo == MessageID("$1"))
        var summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.unreadCount == 3 && summary.lastMessage?.isSealed == true)
        #expect(try await account.found("sealed").isEmpty)

        var updates = account.backend.timeline(of: room, limit: 50).makeAsyncIterator()
        guard case .opened? = await updates.next() else { throw CancellationError() }
        try await account.sync(toDevice: [key])
        guard case .changed(let changed)? = await updates.next() else { throw CancellationError() }
        #expect(changed.map(\.text) == ["Was sealed", "Edited answer"], "and nothing else")
        let read = try #require(try await account.message("$1"))
        #expect(read.position == sealed.position && read.reactions == sealed.reactions && read.seal == nil)
        #expect(read.sentAt == sealed.sentAt && read.kind == .text)
        #expect(try await account.store.revisions(of: MessageID("$2"), in: room).map(\.text) == ["Answer"])
        summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.unreadCount == 3 && summary.lastMessage?.text == "Edited answer")
        #expect(summary.lastMessage?.isSealed == false)
        #expect(try await account.found("sealed") == [MessageID("$1")])
        #expect(try await account.store.integrityProblems() == [])
        await account.close()
    }

    @Test(
        "A message that a forged key could not open is opened by the genuine one, also at the next start",
        arguments: [false, true])
    func forgedKey(isInterrupted: Bool) async throws {
        var account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        // Another ratchet with the same signing key, as a server can put it into the backup.
        var bytes = try InboundGroupSession(sessionKey: ann.group.sessionKey).exported(at: 0)
        bytes[10] ^= 1
        let forged = try BackedUpDevice.exported(
            InboundGroupSession(exported: bytes), in: room.rawValue, by: OlmAccount().identityKey)
        let machine = try #require(await account.backend.keys.machine)
        #expect(try await machine.imported([forged]).new.count == 1)
        try await account.sync([try ann.text("$1", "Genuine")])
        _ = try await account.message("$1") { $0.seal == .damaged }
        if isInterrupted {
            // The program ends once the key is stored.
            var sync = CryptoSync(kind: .plain)
            sync.events = [key]
            #expect(try await machine.received(sync, at: Fixtures.date).sessions.count == 1)
            await account.close()
            account = try await start()
        } else {
            try await account.sync(toDevice: [key])
        }
        #expect(try await account.message("$1") { $0.seal == nil }.text == "Genuine")
        await account.close()
    }

    @Test("A sealed event that is not a message is removed from the timeline")
    func noMessage() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        try await account.sync([
            Events.text("$0", "Before"), try ann.event("$1", ["any": "thing"], type: "org.example.unknown"),
        ])
        #expect(try await account.store.roomSummaries().first?.unreadCount == 2)
        var updates = account.backend.timeline(of: room, limit: 50).makeAsyncIterator()
        guard case .opened? = await updates.next() else { throw CancellationError() }
        try await account.sync(toDevice: [key])
        #expect(await updates.next() == .removed([MessageID("$1")]))
        #expect(try await account.messages.map(\.text) == ["Before"])
        let summary = try #require(try await account.store.roomSummaries().first)
        #expect(summary.unreadCount == 1 && summary.lastMessage?.text == "Before")
        try await account.sync([Events.text("$2", "After")])
        #expect(try await account.messages.map(\.text) == ["Before", "After"])
        await account.close()
    }

    @Test("Each reason why an event stays sealed is reported")
    func reasons() async throws {
        let account = try await start()
        let ann = try await account.peer()
        func reason(_ id: String) async throws -> SealReason? { try await account.message(id)?.seal }
        let early = try ann.text("$early", "Before the key")
        let key = try ann.key()
        let said = try ann.text("$said", "Said once")
        func copy(_ id: String, by sender: String? = nil) -> JSONValue {
            var members = said.object ?? [:]
            members["event_id"] = .string(id)
            if let sender { members["sender"] = .string(sender) }
            return .object(members)
        }
        try await account.sync(
            [
                early, said, copy("$repeated"), copy("$forged", by: "@bob:example.org"),
                try ann.event("$elsewhere", ["msgtype": "m.text", "body": "x"], room: RoomID("!other:example.org")),
                try ann.event("$algorithm", ["msgtype": "m.text", "body": "x"]) { $0["algorithm"] = "org.example.x" },
                try ann.event("$malformed", ["msgtype": "m.text", "body": "x"]) { $0["ciphertext"] = 5 },
                try ann.event("$damaged", ["msgtype": "m.text", "body": "x"]) { $0["ciphertext"] = "AAAA" },
                try ann.event("$state", ["msgtype": "m.text", "body": "x"]) { $0["session_id"] = .null },
            ], toDevice: [key])
        #expect(try await account.message("$said")?.text == "Said once")
        #expect(try await reason("$early") == .beforeKey)
        #expect(try await reason("$repeated") == .repeated)
        #expect(try await reason("$forged") == .otherSender)
        #expect(try await reason("$elsewhere") == .repeated)
        #expect(try await reason("$algorithm") == .unknownAlgorithm)
        for id in ["$malformed", "$damaged", "$state"] { #expect(try await reason(id) == .damaged) }
        try ann.rotate()
        try await account.sync([
            try ann.event("$old", ["msgtype": "m.text", "body": "x"], at: 1_000_000), try ann.text("$new", "x"),
        ])
        #expect(try await reason("$old") == .beforeSignIn)
        #expect(try await reason("$new") == .noKey)
        for (code, expected) in [
            ("m.unverified", SealReason.unconfirmedDevice), ("m.blacklisted", .withheld), ("m.unauthorised", .withheld),
            ("m.history_not_shared", .beforeMembership), ("org.example.x", .withheld),
        ] {
            try await account.sync(toDevice: [try ann.withheld(code)])
            #expect(try await reason("$new") == expected)
        }
        // The notice is not encrypted, so it must never prevent the use of the key.
        try await account.sync(toDevice: [try ann.key()])
        #expect(try await reason("$new") == .beforeKey)
        await account.close()
    }

    @Test("A message deleted while sealed stays deleted, and nothing of it is stored")
    func deletedWhileSealed() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        try await account.sync([
            try ann.text("$1", "Deleted"), try ann.text("$2", "Kept"), try ann.edit("$3", of: "$2", to: "Withdrawn"),
        ])
        #expect(try await account.store.roomSummaries().first?.unreadCount == 2)
        try await account.sync([
            Events.event("$4", "m.room.redaction", ["redacts": "$1"]),
            Events.event("$5", "m.room.redaction", ["redacts": "$3"]),
        ])
        #expect(try await account.store.roomSummaries().first?.unreadCount == 1)
        let session = SealedSession(room: room, session: try ann.group.id)
        let kept = try await account.store.sealedEvents(of: session, after: nil, limit: 10)
        #expect(kept.map(\.event.rawValue) == ["$2"])
        try await account.sync(toDevice: [key])
        #expect(try await account.messages.map(\.text) == ["", "Kept"])
        #expect(try await account.message("$1")?.isDeleted == true)
        // The server omits the content of events that were redacted earlier.
        let redacted = Events.event(
            "$6", "m.room.encrypted", [:], unsigned: ["redacted_because": ["type": "m.room.redaction"]])
        try await account.sync([redacted])
        #expect(try await account.message("$6")?.isDeleted == true)
        await account.close()
    }
}

/// Sealed messages in a program built without encryption.
@Suite(.enabled(if: !EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct SealedMessagesWithoutLibraryTests {
    private let folder = TemporaryFolder()

    @Test("Encrypted messages are sealed, with the reason that this program has no encryption")
    func sealed() async throws {
        let account = try await EncryptedAccount.start(in: folder, nil)
        let message = Events.event(
            "$1", "m.room.encrypted",
            ["algorithm": "m.megolm.v1.aes-sha2", "session_id": "s", "ciphertext": "AAAA"])
        let edit = Events.event(
            "$2", "m.room.encrypted",
            [
                "algorithm": "m.megolm.v1.aes-sha2", "session_id": "s", "ciphertext": "AAAA",
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$1"],
            ])
        try await account.sync(EncryptedAccount.state + [message, edit, Events.text("$3", "In the clear")])
        let messages = try await account.messages
        #expect(messages.map(\.seal) == [.notBuilt, nil] && messages.map(\.text) == ["", "In the clear"])
        await account.close()
    }
}
