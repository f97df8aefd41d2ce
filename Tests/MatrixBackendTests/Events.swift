import JSONReading

/// Events as servers send them, for tests that mutate them.
enum Events {
    static func event(
        _ id: String, _ type: String, _ content: JSONValue, by sender: String = "@ann:example.org",
        at time: Int64 = 1000,
        stateKey: String? = nil, unsigned: JSONValue = [:]
    ) -> JSONValue {
        var members: [String: JSONValue] = [
            "event_id": .string(id), "type": .string(type), "sender": .string(sender),
            "origin_server_ts": .integer(time), "content": content, "unsigned": unsigned,
        ]
        members["state_key"] = stateKey.map { .string($0) }
        return .object(members)
    }

    static func text(_ id: String, _ body: String, by sender: String = "@ann:example.org", at time: Int64 = 1000)
        -> JSONValue
    {
        event(id, "m.room.message", ["msgtype": "m.text", "body": .string(body)], by: sender, at: time)
    }

    static func member(_ id: String, _ name: String, _ membership: String = "join") -> JSONValue {
        event(
            "$member\(id)", "m.room.member", ["membership": .string(membership), "displayname": .string(name)], by: id,
            stateKey: id)
    }

    /// One event of each parsed kind, with all of its fields.
    static let all: [JSONValue] = [
        text("$text", "Hello"),
        event(
            "$html", "m.room.message",
            [
                "msgtype": "m.emote", "body": "waves", "format": "org.matrix.custom.html",
                "formatted_body": "<b>waves</b>", "m.mentions": ["user_ids": ["@me:example.org"], "room": true],
                "m.relates_to": ["m.in_reply_to": ["event_id": "$text"]],
            ], unsigned: ["transaction_id": "t1", "age": 5]),
        event(
            "$image", "m.room.message",
            [
                "msgtype": "m.image", "body": "A caption", "filename": "cat.png", "url": "mxc://example.org/abc",
                "info": [
                    "mimetype": "image/png", "size": 1000, "w": 30, "h": 20, "duration": 5,
                    "thumbnail_url": "mxc://example.org/def",
                ],
            ]),
        event(
            "$edit", "m.room.message",
            [
                "msgtype": "m.text", "body": "* Hello you",
                "m.new_content": ["msgtype": "m.text", "body": "Hello you"],
                "m.relates_to": ["rel_type": "m.replace", "event_id": "$text"],
            ]),
        event(
            "$reaction", "m.reaction",
            ["m.relates_to": ["rel_type": "m.annotation", "event_id": "$text", "key": "👍"]]),
        event("$redaction", "m.room.redaction", ["redacts": "$gone", "reason": "x"]),
        event("$secret", "m.room.encrypted", ["algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "abc"]),
        event("$sticker", "m.sticker", ["body": "A cat", "url": "mxc://example.org/cat", "info": ["w": 5, "h": 5]]),
        member("@bob:example.org", "Bob"),
        event("$name", "m.room.name", ["name": "A room"], stateKey: ""),
        event("$topic", "m.room.topic", ["topic": "About"], stateKey: ""),
        event("$alias", "m.room.canonical_alias", ["alias": "#room:example.org"], stateKey: ""),
        event("$crypt", "m.room.encryption", ["algorithm": "m.megolm.v1.aes-sha2"], stateKey: ""),
        event("$create", "m.room.create", ["room_version": "999"], stateKey: ""),
        event("$poll", "org.example.unknown", ["any": ["thing": [1, .number(2.5), .null, true]]]),
    ]
}

extension JSONValue {
    /// Returns every variant with one part, at any depth, replaced or removed.
    func mutations(with others: [JSONValue]) -> [JSONValue] {
        var found = others
        if case .object(let members) = self {
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                var lacking = members
                lacking[key] = nil
                found.append(.object(lacking))
                for other in value.mutations(with: others) {
                    var changed = members
                    changed[key] = other
                    found.append(.object(changed))
                }
            }
        }
        if case .array(let values) = self {
            for (place, value) in values.enumerated() {
                for other in value.mutations(with: others) {
                    var changed = values
                    changed[place] = other
                    found.append(.array(changed))
                }
            }
        }
        return found
    }
}
