import ChatCore
import Composer
import JSONReading
import MessageMarkup

/// Builds the event contents of a message to send.
struct EventContentBuilder {
    /// The user, who is not mentioned in replies to own messages.
    let ownUserID: MemberID

    /// Returns one content for a text, or one for each file, the first with the text as caption.
    func contents(of message: WrittenMessage) -> [JSONValue] {
        // A picture sent as a file stays one when its caption is edited, or when it is forwarded.
        let isSingleFile = message.files.count == 1 && Self.fileKinds.contains(message.kind)
        var contents = message.files.map { file($0, as: isSingleFile ? message.kind : $0.messageKind) }
        if contents.isEmpty {
            contents = [.object(text(message.text, kind: message.kind))]
        } else if !message.text.isBlank, case .object(let file) = contents[0] {
            // As a caption: `body` is no longer the file name.
            var caption = text(message.text, kind: message.kind)
            caption["msgtype"] = nil
            contents[0] = .object(file.merging(caption) { _, new in new })
        }
        guard case .object(var first) = contents[0] else { return contents }
        first["m.mentions"] = Self.mentions(notified(by: message))
        if let reply = message.reply {
            first["m.relates_to"] = ["m.in_reply_to": ["event_id": .string(reply.message.rawValue)]]
        }
        contents[0] = .object(first)
        return contents
    }

    /// Builds an edit, which notifies only users who were not mentioned before.
    /// - Parameters:
    ///   - original: The current message, whose kind and files the edit keeps.
    ///   - author: The sender of the replied-to message.
    func edit(of original: Message, to text: WrittenText, answering author: MemberID? = nil) -> JSONValue {
        let reply = original.replyTo.map { WrittenMessage.Reply(to: $0, by: author) }
        let changed = WrittenMessage(text, kind: original.kind, files: original.attachments, reply: reply)
        guard case .object(var content) = contents(of: changed)[0] else { return [:] }
        // An edit cannot change the reply relation.
        content["m.relates_to"] = nil
        var edit = content
        edit["body"] = .string("* " + (content["body"]?.string ?? ""))
        if let html = content["formatted_body"]?.string { edit["formatted_body"] = .string("* " + html) }
        let before = Self.mentioned(in: original)
        edit["m.mentions"] = Self.mentions(text.mentions.map(\.target).filter { !before.contains($0) })
        edit["m.new_content"] = .object(content)
        edit["m.relates_to"] = ["rel_type": "m.replace", "event_id": .string(original.id.rawValue)]
        return .object(edit)
    }

    static func reaction(_ text: String, to target: MessageID) -> JSONValue {
        ["m.relates_to": ["rel_type": "m.annotation", "event_id": .string(target.rawValue), "key": .string(text)]]
    }

    private func text(_ text: WrittenText, kind: Message.Kind) -> [String: JSONValue] {
        var content: [String: JSONValue] = [
            "msgtype": .string(Self.type(of: kind)), "body": .string(MessageMarkup.plainText(of: text)),
        ]
        if let html = MessageMarkup.html(of: text) {
            content["format"] = "org.matrix.custom.html"
            content["formatted_body"] = .string(html)
        }
        return content
    }

    /// Returns the mentions of a message: those in its text and the replied-to sender. A forwarded message mentions
    /// nobody.
    private func notified(by message: WrittenMessage) -> [MentionTarget] {
        if message.origin == .forwarded { return [] }
        let author = message.reply?.author.flatMap { $0 == ownUserID ? nil : MentionTarget.member($0.rawValue) }
        return message.text.mentions.map(\.target) + [author].compactMap(\.self)
    }

    private static func mentioned(in message: Message) -> [MentionTarget] {
        if let written = message.written { return written.mentions.map(\.target) }
        let pills = message.formattedText.map { MessageMarkup.body(html: $0).mentions } ?? []
        return pills + (message.mentionsEveryone ? [.everyone] : [])
    }

    /// Always present, even empty: without `m.mentions`, clients notify by names in the body.
    private static func mentions(_ mentions: [MentionTarget]) -> JSONValue {
        var users: [JSONValue] = []
        var members: [String: JSONValue] = [:]
        for mention in mentions {
            switch mention {
            case .member(let id): if !users.contains(.string(id)) { users.append(.string(id)) }
            case .everyone: members["room"] = true
            case .room, .custom: break
            }
        }
        if !users.isEmpty { members["user_ids"] = .array(users) }
        return .object(members)
    }

    private static let fileKinds: Set<Message.Kind> = [.image, .file, .audio, .video]

    private func file(_ reference: MediaReference, as kind: Message.Kind) -> JSONValue {
        var info: [String: JSONValue] = ["mimetype": .string(reference.type)]
        for (name, value) in [
            ("size", reference.bytes), ("w", reference.width), ("h", reference.height),
            ("duration", reference.duration),
        ] {
            if let value { info[name] = .integer(Int64(value)) }
        }
        if let hash = reference.blurHash { info["xyz.amorgan.blurhash"] = .string(hash) }
        if let thumbnail = reference.thumbnailURI, MediaReference.digest(of: thumbnail) == nil,
            let (name, value) = Self.location(thumbnail)
        {
            info[name == "file" ? "thumbnail_file" : "thumbnail_url"] = value
            info["thumbnail_info"] = .object(Self.poster(of: reference))
        }
        var content: [String: JSONValue] = [
            "msgtype": .string(Self.type(of: kind)), "body": .string(reference.name),
            "filename": .string(reference.name), "info": .object(info), "m.mentions": [:],
        ]
        if let (name, value) = Self.location(reference.uri) { content[name] = value }
        if let text = reference.altText {
            // Clients without alternative text show it as the caption.
            content["body"] = .string(text)
            content["org.matrix.msc1767.alt_text"] = ["org.matrix.msc1767.text": [["body": .string(text)]]]
        }
        if let waveform = reference.loudness { content.merge(Self.voice(reference, waveform)) { _, new in new } }
        return .object(content)
    }

    /// The location of a file: its address, or the `EncryptedFile` of an encrypted one.
    private static func location(_ uri: String) -> (name: String, value: JSONValue)? {
        guard uri.hasPrefix(MediaReference.encryptedScheme) else { return ("url", .string(uri)) }
        return EncryptedFile(uri: uri).map { ("file", $0.json) }
    }

    /// The maximum width and height of a video poster, in pixels.
    private static let posterSide = 800.0

    private static func poster(of video: MediaReference) -> [String: JSONValue] {
        var info: [String: JSONValue] = ["mimetype": "image/jpeg"]
        guard let width = video.width, let height = video.height, width > 0, height > 0 else { return info }
        let scale = min(1, posterSide / Double(max(width, height)))
        for (name, side) in [("w", width), ("h", height)] {
            info[name] = .integer(Int64(max(1, Int(Double(side) * scale))))
        }
        return info
    }

    /// The content of a voice message (MSC3245).
    private static func voice(_ reference: MediaReference, _ waveform: [Int]) -> [String: JSONValue] {
        var audio: [String: JSONValue] = ["waveform": .array(waveform.map { .integer(Int64($0)) })]
        if let duration = reference.duration { audio["duration"] = .integer(Int64(duration)) }
        return ["org.matrix.msc3245.voice": [:], "org.matrix.msc1767.audio": .object(audio)]
    }

    private static func type(of kind: Message.Kind) -> String {
        switch kind {
        case .text: "m.text"
        case .emote: "m.emote"
        case .notice, .event, .sealed: "m.notice"
        case .image: "m.image"
        case .file: "m.file"
        case .audio: "m.audio"
        case .video: "m.video"
        }
    }
}
