import ChatCore
import JSONReading
import MessageMarkup

/// The contents of the events that a message of ours becomes.
struct MessageContent {
    /// The members by whose names a text mentions them.
    let names: MentionNames

    init(members: [Member] = []) {
        names = MentionNames(members.filter { !$0.hasLeft })
    }

    /// One for a text; one for each file otherwise, the text with the first.
    func contents(of message: OutboxMessage) -> [JSONValue] {
        var contents = message.attachments.map { file(of: $0.reference) }
        if contents.isEmpty {
            contents = [.object(text(message.text, message.formattedText, kind: message.kind))]
        } else if message.text.contains(where: { !$0.isWhitespace }), case .object(let file) = contents[0] {
            // As a caption: its body is no longer the file's name.
            var caption = text(message.text, message.formattedText, kind: message.kind)
            caption["msgtype"] = nil
            contents[0] = .object(file.merging(caption) { _, new in new })
        }
        if let reply = message.replyTo, case .object(var first) = contents[0] {
            first["m.relates_to"] = ["m.in_reply_to": ["event_id": .string(reply.rawValue)]]
            contents[0] = .object(first)
        }
        return contents
    }

    /// An edit notifies only those who were not mentioned before.
    /// - Parameter original: as it is now: it stays what it is, with its files.
    func edit(of original: Message, text: String, formattedText: String?) -> JSONValue {
        let files = original.attachments.map { OutboxAttachment(path: "", reference: $0) }
        let changed = OutboxMessage(
            kind: original.kind, text: text, formattedText: formattedText, attachments: files)
        guard case .object(let content) = contents(of: changed)[0] else { return [:] }
        var edit = content
        edit["body"] = .string("* " + (content["body"]?.string ?? text))
        if let html = content["formatted_body"]?.string { edit["formatted_body"] = .string("* " + html) }
        let before = mentions(original.text, original.formattedText)
        edit["m.mentions"] = Self.mentions(mentions(text, formattedText).filter { !before.contains($0) })
        edit["m.new_content"] = .object(content)
        edit["m.relates_to"] = ["rel_type": "m.replace", "event_id": .string(original.id.rawValue)]
        return .object(edit)
    }

    static func reaction(_ text: String, to target: MessageID) -> JSONValue {
        ["m.relates_to": ["rel_type": "m.annotation", "event_id": .string(target.rawValue), "key": .string(text)]]
    }

    private func text(_ text: String, _ formatted: String?, kind: Message.Kind) -> [String: JSONValue] {
        var content: [String: JSONValue] = ["msgtype": .string(Self.type(of: kind)), "body": .string(text)]
        if let html = formatted ?? MessageMarkup.html(markdown: text, names: names) {
            content["format"] = "org.matrix.custom.html"
            content["formatted_body"] = .string(html)
        }
        content["m.mentions"] = Self.mentions(mentions(text, formatted))
        return content
    }

    private func mentions(_ text: String, _ formatted: String?) -> [BodyMention] {
        (formatted.map { MessageMarkup.body(html: $0) } ?? MessageMarkup.body(markdown: text, names: names)).mentions
    }

    /// Always there, so that nobody is notified by a name that happens to be in the text.
    private static func mentions(_ mentions: [BodyMention]) -> JSONValue {
        var users: [JSONValue] = []
        var members: [String: JSONValue] = [:]
        for mention in mentions {
            switch mention {
            case .member(let id): users.append(.string(id))
            case .everyone: members["room"] = true
            case .room: break
            }
        }
        if !users.isEmpty { members["user_ids"] = .array(users) }
        return .object(members)
    }

    private func file(of reference: MediaReference) -> JSONValue {
        var info: [String: JSONValue] = ["mimetype": .string(reference.type)]
        for (name, value) in [
            ("size", reference.bytes), ("w", reference.width), ("h", reference.height),
            ("duration", reference.duration),
        ] {
            if let value { info[name] = .integer(Int64(value)) }
        }
        if let hash = reference.blurHash { info["xyz.amorgan.blurhash"] = .string(hash) }
        if let thumbnail = reference.thumbnailURI, thumbnail.hasPrefix("mxc://") {
            info["thumbnail_url"] = .string(thumbnail)
            info["thumbnail_info"] = ["mimetype": "image/jpeg"]
        }
        var content: [String: JSONValue] = [
            "msgtype": .string(Self.type(of: reference.messageKind)), "body": .string(reference.name),
            "filename": .string(reference.name), "url": .string(reference.uri), "info": .object(info),
            "m.mentions": [:],
        ]
        if let text = reference.altText {
            // Programs that know no descriptions have it as what is said of the file.
            content["body"] = .string(text)
            content["org.matrix.msc1767.alt_text"] = ["org.matrix.msc1767.text": [["body": .string(text)]]]
        }
        if let loudness = reference.loudness { content.merge(Self.voice(reference, loudness)) { _, new in new } }
        return .object(content)
    }

    /// What makes a sound a voice message (MSC3245).
    private static func voice(_ reference: MediaReference, _ loudness: [Int]) -> [String: JSONValue] {
        var sound: [String: JSONValue] = ["waveform": .array(loudness.map { .integer(Int64($0)) })]
        if let duration = reference.duration { sound["duration"] = .integer(Int64(duration)) }
        return ["org.matrix.msc3245.voice": [:], "org.matrix.msc1767.audio": .object(sound)]
    }

    private static func type(of kind: Message.Kind) -> String {
        switch kind {
        case .text: "m.text"
        case .emote: "m.emote"
        case .notice, .event: "m.notice"
        case .image: "m.image"
        case .file: "m.file"
        case .audio: "m.audio"
        case .video: "m.video"
        }
    }
}
