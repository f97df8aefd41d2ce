import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

@Suite struct EventParserTests {
    private let reader = EventParser(ownUserID: MemberID("@ann:example.org"), translator: .untranslated)

    private func read(_ json: JSONValue) throws -> TimelineEvent {
        let event = try #require(MatrixEvent(json))
        return try #require(reader.event(event))
    }

    private func message(_ content: JSONValue, unsigned: JSONValue = [:]) throws -> NewMessage {
        guard
            case .message(let message) = try read(Events.event("$e", "m.room.message", content, unsigned: unsigned))
        else { throw CancellationError() }
        return message
    }

    @Test(arguments: [
        ("m.text", Message.Kind.text), ("m.emote", .emote), ("m.notice", .notice), ("org.example.new", .text),
        ("m.location", .text),
    ])
    func messageTypesMapToKinds(_ type: String, _ kind: Message.Kind) throws {
        let read = try message(["msgtype": .string(type), "body": "Hello"])
        #expect(read.kind == kind && read.text == "Hello" && read.attachments.isEmpty)
        #expect(read.sentAt == Date(timeIntervalSince1970: 1) && read.transactionID == nil)
    }

    /// A caption mentions the room like any text; a file name never does.
    @Test func roomMentionIsParsed() throws {
        let everyone: JSONValue = ["room": true]
        let said: JSONValue = ["msgtype": "m.text", "body": "@room", "m.mentions": everyone]
        #expect(try message(said).mentionsEveryone)
        #expect(try !message(["msgtype": "m.text", "body": "@room", "m.mentions": ["room": "true"]]).mentionsEveryone)
        #expect(try !message(["msgtype": "m.text", "body": "@room"]).mentionsEveryone)
        let file: JSONValue = ["msgtype": "m.file", "body": "@room", "url": "mxc://a/b", "m.mentions": everyone]
        #expect(try !message(file).mentionsEveryone)
        let edit: JSONValue = [
            "msgtype": "m.text", "body": "* @room", "m.mentions": [:], "m.new_content": said,
            "m.relates_to": ["rel_type": "m.replace", "event_id": "$a"],
        ]
        guard case .change(let change) = try read(Events.event("$e", "m.room.message", edit)) else {
            throw CancellationError()
        }
        #expect(change.kind == .edit(Wording("@room", mentionsEveryone: true)))
    }

    @Test("An edit keeps the mark of its own event", arguments: [nil] + MessageTrust.allCases)
    func editKeepsItsTrust(trust: MessageTrust?) throws {
        let edit = Events.event(
            "$e", "m.room.message",
            [
                "msgtype": "m.text", "body": "* b", "m.new_content": ["msgtype": "m.text", "body": "b"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$a"],
            ])
        var event = try #require(MatrixEvent(edit))
        event.trust = trust
        guard case .change(let change) = reader.event(event) else { throw CancellationError() }
        #expect(change.trust == trust)
    }

    /// Each case: the mentions that an edit adds, those of the new content, the sender, and whether it mentions the
    /// user.
    static let edits: [(JSONValue?, JSONValue?, String, Bool)] = [
        (["user_ids": ["@ann:example.org"]], ["user_ids": ["@ann:example.org"]], "@bob:example.org", true),
        ([:], ["user_ids": ["@ann:example.org"]], "@bob:example.org", false), (nil, nil, "@bob:example.org", false),
        (["room": true], ["room": true], "@bob:example.org", false),
        (["room": true], ["room": true], "@carl:example.org", true),
        (["user_ids": "@ann:example.org"], nil, "@bob:example.org", false),
        (JSONValue.null, nil, "@bob:example.org", false),
        (["user_ids": ["@ann:example.org"]], nil, "@ann:example.org", false),
        (["user_ids": ["@ann:example.org"]], nil, "@eve:example.org", false),
    ]

    /// With the default rules, in which that of mentions precedes that of edits.
    @Test("An edit mentions the user by the mentions that it adds", arguments: edits)
    func editMentions(_ added: JSONValue?, _ all: JSONValue?, _ sender: String, _ isMention: Bool) throws {
        let isEdit: JSONValue = [
            "kind": "event_property_is", "key": "content.m\\.relates_to.rel_type", "value": "m.replace",
        ]
        let highlight: JSONValue = ["notify", ["set_tweak": "highlight"]]
        let rules: JSONValue = [
            "global": [
                "override": [
                    [
                        "rule_id": ".m.rule.is_user_mention", "actions": highlight,
                        "conditions": [
                            [
                                "kind": "event_property_contains", "key": "content.m\\.mentions.user_ids",
                                "value": "@ann:example.org",
                            ]
                        ],
                    ],
                    [
                        "rule_id": ".m.rule.is_room_mention", "actions": highlight,
                        "conditions": [
                            ["kind": "event_property_is", "key": "content.m\\.mentions.room", "value": true],
                            ["kind": "sender_notification_permission", "key": "room"],
                        ],
                    ],
                    ["rule_id": ".m.rule.suppress_edits", "actions": [], "conditions": [isEdit]],
                ],
                "underride": [["rule_id": ".m.rule.message", "actions": ["notify"], "conditions": []]],
            ]
        ]
        var new: [String: JSONValue] = ["msgtype": "m.text", "body": "b"]
        new["m.mentions"] = all
        var content: [String: JSONValue] = [
            "msgtype": "m.text", "body": "* b", "m.new_content": .object(new),
            "m.relates_to": ["rel_type": "m.replace", "event_id": "$a"],
        ]
        content["m.mentions"] = added
        let event = try #require(
            MatrixEvent(Events.event("$e", "m.room.message", .object(content), by: sender)))
        var parser = reader
        #expect(parser.change(event)?.isMention == false, "where nothing notifies")
        let powers = PowerLevels(["users": ["@carl:example.org": 50]], creation: nil)
        parser.rules = (
            PushRules(rules),
            PushRoom(
                id: RoomID("!room"), ownUserID: MemberID("@ann:example.org"), ownDisplayName: "Ann", memberCount: 3,
                powers: powers)
        )
        parser.ignoredUsers = try #require(IgnoredUsers(["ignored_users": ["@eve:example.org": [:]]]))
        #expect(parser.change(event)?.isMention == isMention)
    }

    @Test func onlyOwnMessagesHaveATransactionID() throws {
        let unsigned: JSONValue = ["transaction_id": "t"]
        #expect(
            try message(["msgtype": "m.text", "body": "x"], unsigned: unsigned).transactionID == TransactionID("t"))
        let other = Events.event(
            "$e", "m.room.message", ["msgtype": "m.text", "body": "x"], by: "@bob:example.org", unsigned: unsigned)
        guard case .message(let message) = try read(other) else { throw CancellationError() }
        #expect(message.transactionID == nil, "a stranger's would take the place of one's own")
    }

    @Test func fileHasACaptionOnlyBesideAFileName() throws {
        var content: [String: JSONValue] = [
            "msgtype": "m.image", "body": "cat.png", "url": "mxc://a/b",
            "info": ["mimetype": "image/png", "size": 5, "w": 3, "h": 4],
        ]
        var read = try message(.object(content))
        #expect(read.text == "" && read.kind == .image)
        #expect(
            read.attachments == [
                MediaReference(uri: "mxc://a/b", name: "cat.png", type: "image/png", bytes: 5, width: 3, height: 4)
            ])
        content["filename"] = "cat.png"
        content["body"] = "My cat"
        read = try message(.object(content))
        #expect(read.text == "My cat" && read.attachments.first?.name == "cat.png")
        content["info"] = ["mimetype": "text/html"]
        #expect(try message(.object(content)).attachments.first?.type == "image/x-unknown", "a picture is no page")
        content["url"] = "https://example.org/x"
        read = try message(.object(content))
        #expect(read.attachments.isEmpty && read.kind == .text && read.text == "My cat")
    }

    @Test(arguments: [
        ("> <@bob:b> one\n> two\n\nYes", "Yes"), ("> <@bob:b> one\n\n> mine\nYes", "> mine\nYes"),
        ("> quoted by hand\nYes", "> quoted by hand\nYes"), ("> <@bob:b> all there is", "> <@bob:b> all there is"),
    ])
    func replyFallbacksAreRemoved(_ body: String, _ expected: String) throws {
        let relation: JSONValue = ["m.in_reply_to": ["event_id": "$a"]]
        let read = try message(["msgtype": "m.text", "body": .string(body), "m.relates_to": relation])
        #expect(read.text == expected && read.replyTo == MessageID("$a"))
        #expect(try message(["msgtype": "m.text", "body": .string(body)]).text == body, "only replies have one")
    }

    @Test func changesReferToTheirTargets() throws {
        let sender = MemberID("@ann:example.org")
        let at = Date(timeIntervalSince1970: 1)
        #expect(
            try read(Events.all[3])
                == .change(
                    MessageChange(
                        id: "$edit", target: MessageID("$text"), sender: sender, at: at,
                        kind: .edit(Wording("Hello you")),
                        content: MessageMedia(kind: .text, attachments: []))))
        #expect(
            try read(Events.all[4])
                == .change(
                    MessageChange(
                        id: "$reaction", target: MessageID("$text"), sender: sender, at: at, kind: .reaction("👍"))))
        let deletion = TimelineEvent.change(
            MessageChange(id: "$redaction", target: MessageID("$gone"), sender: sender, at: at, kind: .deletion))
        #expect(try read(Events.all[5]) == deletion)
        // Before room version 11, `redacts` is outside `content`.
        guard case .object(var old) = Events.event("$redaction", "m.room.redaction", [:]) else { return }
        old["redacts"] = "$gone"
        #expect(try read(.object(old)) == deletion)
    }

    @Test func bundledEditIsParsed() throws {
        func edit(of target: JSONValue) -> JSONValue {
            Events.event(
                "$edit", "m.room.message",
                [
                    "msgtype": "m.text", "body": "* b", "m.new_content": ["msgtype": "m.text", "body": "b"],
                    "m.relates_to": ["rel_type": "m.replace", "event_id": target],
                ], at: 9000)
        }
        func bundling(_ edit: JSONValue) -> JSONValue {
            Events.event(
                "$a", "m.room.message", ["msgtype": "m.text", "body": "a"],
                unsigned: ["m.relations": ["m.replace": edit]])
        }
        func parsedEvents(_ edit: JSONValue) throws -> [TimelineEvent] {
            reader.timeline([try #require(MatrixEvent(bundling(edit)))])
        }
        let events = try parsedEvents(edit(of: "$a"))
        guard case .message(let message) = events.first else { throw CancellationError() }
        #expect(message.text == "a")
        #expect(
            events.dropFirst() == [
                .change(
                    MessageChange(
                        id: "$edit", target: message.id, sender: message.sender, at: Date(timeIntervalSince1970: 9),
                        kind: .edit(Wording("b")),
                        content: MessageMedia(kind: .text, attachments: [])))
            ])
        #expect(try parsedEvents(edit(of: "$other")).count == 1, "one of another message says nothing here")
        var encrypted = try #require(MatrixEvent(bundling(edit(of: "$a"))))
        encrypted.protection = .opened
        #expect(reader.bundledEdit(of: encrypted) == nil, "the server may have made it up")
        #expect(reader.timeline([encrypted]).count == 1)
    }

    @Test func threadMessagesAreReplies() throws {
        func answered(_ relation: JSONValue) throws -> MessageID? {
            try message(["msgtype": "m.text", "body": "b", "m.relates_to": relation]).replyTo
        }
        let root = MessageID("$root")
        #expect(try answered(["rel_type": "m.thread", "event_id": "$root"]) == root)
        let last: JSONValue = ["event_id": "$last"]
        #expect(
            try answered([
                "rel_type": "m.thread", "event_id": "$root", "is_falling_back": true, "m.in_reply_to": last,
            ]) == root)
        #expect(
            try answered(["rel_type": "m.thread", "event_id": "$root", "m.in_reply_to": last]) == MessageID("$last"))
    }

    @Test func unknownEventTypesUseTheirFallbackText() throws {
        func text(_ type: String, _ content: JSONValue) -> String? {
            guard let event = MatrixEvent(Events.event("$e", type, content)),
                case .message(let message)? = reader.event(event)
            else { return nil }
            return message.text
        }
        let poll: JSONValue = [
            "question": ["m.text": [["body": "Tea?"]]],
            "answers": [["m.id": "1", "m.text": [["body": "Yes"]]], ["m.id": "2", "m.text": "No"]],
        ]
        #expect(text("m.poll.start", ["m.poll": poll]) == "Poll: Tea?\n• Yes\n• No")
        #expect(text("m.poll.start", ["m.poll": poll, "m.text": [["body": "x"]]]) == "Poll: Tea?\n• Yes\n• No")
        let arabic = EventParser(
            ownUserID: MemberID("@ann:example.org"),
            translator: Translator(
                translate: { $0 == "Poll: {question}" ? "استطلاع: {question}" : $0 }, plural: { one, _, _ in one }))
        let event = try #require(MatrixEvent(Events.event("$e", "m.poll.start", ["m.poll": poll])))
        guard case .message(let translated)? = arabic.event(event) else { throw CancellationError() }
        #expect(translated.text == "استطلاع: Tea?\n• Yes\n• No", "without invisible characters, as it is stored")
        #expect(text("org.example.thing", ["body": "A thing"]) == "A thing")
        #expect(text("org.example.thing", ["other": "x"]) == nil)
        func place(_ uri: String, _ body: String = "Here") -> String? {
            text("m.room.message", ["msgtype": "m.location", "body": .string(body), "geo_uri": .string(uri)])
        }
        let map = "https://www.openstreetmap.org/?mlat=51.5&mlon=-0.1#map=16/51.5/-0.1"
        #expect(place("geo:51.5,-0.1;u=35") == "Here\n" + map)
        #expect(place("geo:51.5,-0.1", "Location was shared at geo:51.5,-0.1") == map)
        for uri in ["geo:", "geo:1", "geo:91,0", "geo:a,b", "geo:1,2,3,4", "javascript:x", "geo:nan,1"] {
            #expect(place(uri) == "Here", "\(uri)")
        }
    }

    @Test func redactedMessageKeepsItsPlace() throws {
        let event = Events.event(
            "$a", "m.room.message", [:], unsigned: ["redacted_because": ["type": "m.room.redaction"]])
        guard case .deleted(let message) = try read(event) else { throw CancellationError() }
        #expect(message.text.isEmpty && message.id == MessageID("$a"))
    }

    @Test func encryptedMessageIsSealed() throws {
        guard case .message(let message) = try read(Events.all[6]) else { throw CancellationError() }
        #expect(message.kind == .sealed && message.text.isEmpty && message.seal == .keysUnavailable)
        #expect(message.isEncrypted && message.ciphertext?.data?.contains("megolm") == true)
    }

    @Test func eventsWithoutContentAreSilent() throws {
        let silent: Set = ["$create", "$poll"]
        let events = try Events.all.map { try #require(MatrixEvent($0)) }.filter { silent.contains($0.id.rawValue) }
        #expect(events.count == 2 && reader.timeline(events) == events.map { .silent($0.id) }, "but for its place")
        let long = String(repeating: "x", count: ChatLimits.reactionLength + 1)
        let reaction = Events.event(
            "$r", "m.reaction", ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$t", "key": .string(long)]])
        #expect(reader.event(try #require(MatrixEvent(reaction))) == nil)
    }

    @Test func equalNamesAreDisambiguated() {
        func member(_ id: String, _ name: String) -> Member {
            Member(id: MemberID(id), displayName: name, kind: .person)
        }
        let names = MemberNames.disambiguated([
            member("@a:x", "Ann"), member("@b:x", "ann\u{200B}"), member("@c:x", "Bob"), member("@d:x", "@c:x"),
            member("@e:x", "@e:x"),
        ]).map(\.displayName)
        #expect(names == ["Ann (@a:x)", "ann\u{200B} (@b:x)", "Bob", "@c:x (@d:x)", "@e:x"])
    }
}

extension EventParser {
    /// Returns an event as a change of a message.
    fileprivate func change(_ event: MatrixEvent) -> MessageChange? {
        guard case .change(let change)? = self.event(event) else { return nil }
        return change
    }
}
