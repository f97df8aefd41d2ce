import ChatCore
import ChatStore
import Foundation
import JSONReading
import MatrixCrypto

/// Maps events to timeline events. Events that have nothing to display are omitted.
struct EventParser {
    let ownUserID: MemberID
    /// Translates texts that stand for unreadable content.
    let translator: Translator
    /// The push rules and the room they apply to; `nil` where notification levels are not needed.
    var rules: (rules: PushRules, room: PushRoom)?
    /// The users whose events never notify.
    var ignoredUsers = IgnoredUsers()
    /// State events from the room's creation are not displayed.
    var creation: RoomState.Creation?

    /// Maps events in order. A message with a bundled edit becomes the original message and the edit. For whatever
    /// is not a message, a `silent` event keeps the position.
    func timeline(_ events: [MatrixEvent]) -> [TimelineEvent] {
        events.flatMap { event -> [TimelineEvent] in
            switch self.event(event) {
            case .message(let message): [.message(message), bundledEdit(of: event)].compactMap(\.self)
            case .deleted(let message): [.deleted(message)]
            case let other: [.silent(event.id), other].compactMap(\.self)
            }
        }
    }

    func event(_ event: MatrixEvent) -> TimelineEvent? {
        // State events of a message type, such as `m.room.message`, are not messages.
        if let key = event.stateKey { return happening(event, key) }
        switch event.type {
        case "m.room.message", "m.sticker": return message(event)
        case MatrixEvent.encryptedType: return encrypted(event)
        case "m.reaction": return reaction(event)
        case "m.call.invite":
            if event.isRedacted { return nil }
            return .message(
                NewMessage(id: event.id, sender: event.sender, event: RoomEvent(.called), sentAt: event.sentAt))
        case "m.room.redaction":
            guard let target = event.redacts else { return nil }
            return change(event, of: target, .deletion)
        default: return fallback(event)
        }
    }

    /// Displays the fallback text of unknown event types (specification, extensible events).
    private func fallback(_ event: MatrixEvent) -> TimelineEvent? {
        if event.isRedacted { return nil }
        guard let text = poll(event.content) ?? Self.fallbackText(event.content) else { return nil }
        return message(
            event,
            ["msgtype": "m.notice", "body": .string(text), "m.relates_to": event.content["m.relates_to"] ?? .null])
    }

    private static func fallbackText(_ content: JSONValue) -> String? {
        for name in ["m.text", "org.matrix.msc1767.text", "body"] {
            if let text = content[name]?.string { return text }
            if let text = content[name]?.array?.compactMap({ $0["body"]?.string }).first { return text }
        }
        return nil
    }

    /// Returns a poll's question and answers as text; voting is not supported yet.
    private func poll(_ content: JSONValue) -> String? {
        guard let poll = content["m.poll"] ?? content["org.matrix.msc3381.poll.start"],
            let question = poll["question"].flatMap(Self.fallbackText)
        else { return nil }
        let answers = (poll["answers"]?.array ?? []).prefix(20).compactMap(Self.fallbackText)
        // Stored and searched as the message's text.
        let translator = translator.plain
        let title = translator("Poll: {question}", ["question": question])
        return ([title] + answers.map { "• " + $0 }).joined(separator: "\n")
    }

    private func happening(_ event: MatrixEvent, _ key: String) -> TimelineEvent? {
        guard creation?.includes(event) != true, let happened = RoomEvent(event, stateKey: key) else { return nil }
        return .message(NewMessage(id: event.id, sender: event.sender, event: happened, sentAt: event.sentAt))
    }

    private func message(_ event: MatrixEvent) -> TimelineEvent? { message(event, event.content) }

    private func message(_ event: MatrixEvent, _ content: JSONValue) -> TimelineEvent? {
        if event.isRedacted { return .deleted(new(event, Message.Content())) }
        if content["msgtype"]?.string == VerificationEvent.requestKind { return verificationRequest(event, content) }
        let relation = content["m.relates_to"]
        if relation?["rel_type"]?.string == "m.replace" {
            guard let target = MatrixEvent.identifier(relation?["event_id"]),
                let edited = Message.Content(json: content["m.new_content"] ?? .null)
            else { return nil }
            var change = MessageChange(
                id: event.id.rawValue, target: MessageID(target), sender: event.sender, at: event.sentAt,
                kind: .edit(edited.wording),
                content: MessageMedia(kind: edited.kind, attachments: edited.attachments))
            change.isEncrypted = event.protection == .opened
            change.trust = Self.trust(of: event, edited.attachments)
            change.isMention = notificationLevel(of: event) == .mention
            return .change(change)
        }
        let reply = Self.repliedMessage(by: relation)
        guard var content = Message.Content(json: content, isSticker: event.type == "m.sticker") else { return nil }
        if reply != nil { content.dropReplyFallback() }
        return .message(new(event, content, replyTo: reply))
    }

    /// A verification request's body tells other clients that they do not support it, so it is not displayed.
    private func verificationRequest(_ event: MatrixEvent, _ content: JSONValue) -> TimelineEvent? {
        guard let user = MatrixEvent.identifier(content["to"]), user != event.sender.rawValue else { return nil }
        let request = RoomEvent(.verificationRequested, subject: MemberID(user))
        return .message(NewMessage(id: event.id, sender: event.sender, event: request, sentAt: event.sentAt))
    }

    /// In a thread, a message that replies to nothing else is displayed as a reply to the thread's root.
    private static func repliedMessage(by relation: JSONValue?) -> MessageID? {
        let isInThread = relation?["rel_type"]?.string == "m.thread"
        var repliedEvent = relation?["m.in_reply_to"]?["event_id"]
        if isInThread, repliedEvent == nil || relation?["is_falling_back"]?.bool == true {
            repliedEvent = relation?["event_id"]
        }
        return MatrixEvent.identifier(repliedEvent).map { MessageID($0) }
    }

    /// Returns the latest edit if the server has bundled it with the message.
    func bundledEdit(of event: MatrixEvent) -> TimelineEvent? {
        if let edit = event.encryptedEdit.first { return bundledEncryptedEdit(edit) }
        // An unencrypted edit must not replace an encrypted message.
        guard event.protection == .clear, let bundled = event.unsigned["m.relations"]?["m.replace"],
            let edit = MatrixEvent(bundled),
            edit.sender == event.sender, edit.type == event.type, event.type == "m.room.message", !event.isRedacted,
            edit.editedMessage == event.id
        else { return nil }
        return message(edit)
    }

    private func bundledEncryptedEdit(_ edit: MatrixEvent) -> TimelineEvent? {
        switch event(edit) {
        case .change(let change): .change(change)
        case .sealed(let ciphertext): .sealed(ciphertext)
        case .message, .deleted, .silent, .redacted, nil: nil
        }
    }

    /// Parses an undecryptable event as a message or, according to its unencrypted relation, as an edit.
    private func encrypted(_ event: MatrixEvent) -> TimelineEvent? {
        let relation = event.content["m.relates_to"]
        let isEdit = relation?["rel_type"]?.string == "m.replace"
        if event.isRedacted { return isEdit ? nil : .deleted(new(event, Message.Content())) }
        let reason: SealReason =
            if case .sealed(let reason) = event.protection { reason } else { .keysUnavailable }
        let ciphertext = Ciphertext(event, reason: reason)
        if isEdit { return .sealed(ciphertext) }
        var message = new(
            event, Message.Content(sealed: reason), replyTo: Self.repliedMessage(by: relation))
        message.isEncrypted = true
        message.ciphertext = ciphertext
        return .message(message)
    }

    private func reaction(_ event: MatrixEvent) -> TimelineEvent? {
        if event.isRedacted { return .redacted(event.id, at: event.sentAt) }
        let relation = event.content["m.relates_to"]
        guard relation?["rel_type"]?.string == "m.annotation",
            let target = MatrixEvent.identifier(relation?["event_id"]), let key = relation?["key"]?.string,
            ChatLimits.isValidReaction(key)
        else { return nil }
        return change(event, of: MessageID(target), .reaction(key))
    }

    private func change(_ event: MatrixEvent, of target: MessageID, _ kind: MessageChange.Kind) -> TimelineEvent {
        .change(
            MessageChange(id: event.id.rawValue, target: target, sender: event.sender, at: event.sentAt, kind: kind))
    }

    private func new(_ event: MatrixEvent, _ content: Message.Content, replyTo: MessageID? = nil) -> NewMessage {
        // A transaction ID is meaningful only for the sender; ignore it in other members' events.
        let transaction = event.sender == ownUserID ? MatrixEvent.identifier(event.unsigned["transaction_id"]) : nil
        var new = NewMessage(
            id: event.id, sender: event.sender, content: content, sentAt: event.sentAt,
            transactionID: transaction.map { TransactionID($0) }, replyTo: replyTo)
        new.isEncrypted = event.protection == .opened
        new.trust = event.isRedacted ? nil : Self.trust(of: event, content.attachments)
        new.notificationLevel = notificationLevel(of: event)
        return new
    }

    /// The warning about an event. One that was encrypted may name a file that was not, which the server can replace.
    /// Stickers are never encrypted.
    private static func trust(of event: MatrixEvent, _ files: [MediaReference]) -> MessageTrust? {
        let hasClearFile =
            event.protection == .opened && event.type != "m.sticker" && files.contains { !$0.isEncrypted }
        return MessageTrust.worst(of: event.trust, hasClearFile ? .notEncrypted : nil)
    }

    /// Returns the messages whose notifications play a sound according to the push rules. An edit that mentions the
    /// user plays its sound for the message that it changes.
    func audibleMessages(in events: [MatrixEvent]) -> Set<MessageID> {
        guard let rules else { return [] }
        let audible = events.filter { rules.rules.playsSound(for: $0, in: rules.room) }
        return Set(
            audible.compactMap { event -> MessageID? in
                guard let edited = event.editedMessage else { return event.id }
                return rules.rules.notificationLevel(to: event, in: rules.room) == .mention ? edited : nil
            })
    }

    /// Returns the level of an event by itself. An edit's mentions are those that it adds (specification, edits of
    /// events with mentions).
    private func notificationLevel(of event: MatrixEvent) -> NotificationLevel {
        if ignoredUsers.contains(event.sender) { return .none }
        guard let rules else { return .unread }
        return rules.rules.notificationLevel(to: event, in: rules.room)
    }
}

/// Reads the content of a message event.
extension Message.Content {
    /// - Returns: `nil` if there is nothing to display.
    init?(json content: JSONValue, isSticker: Bool = false) {
        guard let body = content["body"]?.string, body.utf8.count <= ChatLimits.messageBytes else { return nil }
        self.init(Self.sanitized(body))
        switch content["msgtype"]?.string {
        case "m.emote": kind = .emote
        case "m.notice": kind = .notice
        case "m.image": kind = .image
        case "m.file": kind = .file
        case "m.audio": kind = .audio
        case "m.video": kind = .video
        // Unknown message types are displayed as text (specification, `m.room.message` msgtypes).
        default: kind = isSticker ? .image : .text
        }
        if content["format"]?.string == "org.matrix.custom.html", let html = content["formatted_body"]?.string,
            html.utf8.count <= ChatLimits.messageBytes
        {
            formattedText = Self.sanitized(html)
        }
        mentionsEveryone = content["m.mentions"]?["room"]?.bool == true
        if content["msgtype"]?.string == "m.location" { readLocation(content) }
        guard [.image, .file, .audio, .video].contains(kind) else {
            if text.allSatisfy(\.isWhitespace), formattedText == nil { return nil }
            return
        }
        readFile(content, body: text)
    }

    /// Displays a location as a map link after the sender's description.
    private mutating func readLocation(_ content: JSONValue) {
        let uri = content["geo_uri"]?.string ?? content["m.location"]?["uri"]?.string
        guard let link = uri.flatMap(MapLink.init)?.address else { return }
        let name = text.allSatisfy(\.isWhitespace) || text.contains("geo:") ? "" : text
        text = name.isEmpty ? link : "\(name)\n\(link)"
        formattedText = nil
    }

    /// Reads a file's reference. `filename` differs from `body` only if `body` is a caption.
    private mutating func readFile(_ content: JSONValue, body: String) {
        let filename = content["filename"]?.string.map(Self.sanitized)
        guard let uri = Self.uri(content["file"], content["url"]) else {
            // Only the name is displayed.
            kind = .text
            return
        }
        let info = content["info"]
        func size(_ name: String) -> Int? { info?[name]?.integer.flatMap { $0 >= 0 ? Int(clamping: $0) : nil } }
        let altText = Self.altText(content)
        // An alternative text is not a caption, although it is sent as `body` for other clients.
        let isCaption = filename.map { $0 != body && altText != body } ?? false
        let name = filename ?? body
        let isVoice = content["org.matrix.msc3245.voice"] != nil || content["m.voice"] != nil
        let audio = content["org.matrix.msc1767.audio"]
        attachments = [
            MediaReference(
                uri: uri, name: name.isEmpty ? "file" : String(name.prefix(255)),
                type: Self.type(info?["mimetype"]?.string, of: kind), bytes: size("size"), width: size("w"),
                height: size("h"),
                duration: size("duration") ?? audio?["duration"]?.integer.map { Int(clamping: max(0, $0)) },
                thumbnailURI: Self.thumbnail(of: content), altText: altText, blurHash: Self.blurHash(info),
                loudness: isVoice && kind == .audio ? Self.waveform(audio?["waveform"]?.array ?? []) : nil)
        ]
        if !isCaption { text = "" }
        if !isCaption { formattedText = nil }
        if !isCaption { mentionsEveryone = false }
    }

    /// Checks only the length and characters; the renderer decodes it.
    private static func blurHash(_ info: JSONValue?) -> String? {
        let text = (info?["xyz.amorgan.blurhash"] ?? info?["blurhash"])?.string
        return text.flatMap { (6...166).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 } ? $0 : nil }
    }

    /// Downsamples a waveform to ``MediaDescription/maxWaveformSamples``, each the maximum of the samples it replaces.
    private static func waveform(_ samples: [JSONValue]) -> [Int] {
        let values = samples.prefix(10_000).map { value in
            Int(min(max(value.integer ?? 0, 0), Int64(MediaDescription.maxAmplitude)))
        }
        let count = min(values.count, MediaDescription.maxWaveformSamples)
        return (0..<count).map { index in
            values[index * values.count / count..<max((index + 1) * values.count / count, index + 1)].max() ?? 0
        }
    }

    /// Returns the plain-text alternative text (MSC3552).
    private static func altText(_ content: JSONValue) -> String? {
        let block = content["m.alt_text"] ?? content["org.matrix.msc1767.alt_text"]
        let forms = (block?["m.text"] ?? block?["org.matrix.msc1767.text"])?.array ?? []
        let plain = forms.first { ($0["mimetype"]?.string ?? "text/plain") == "text/plain" }
        guard let text = (plain?["body"] ?? block?["org.matrix.msc1767.text"])?.string, !text.isEmpty,
            text.utf8.count <= 10_000
        else { return nil }
        return sanitized(text)
    }

    /// - Parameters:
    ///   - file: The `EncryptedFile`. If it is present but malformed, `address` must not be used instead.
    ///   - address: The address of an unencrypted file.
    private static func uri(_ file: JSONValue?, _ address: JSONValue?) -> String? {
        if let file, file != .null { return EncryptedFile(file)?.uri }
        return MatrixEvent.contentURI(address)
    }

    /// Of an encrypted file, only an encrypted thumbnail counts: the server could read and replace any other.
    private static func thumbnail(of content: JSONValue) -> String? {
        let info = content["info"]
        let isEncrypted = content["file"].map { $0 != .null } ?? false
        return uri(info?["thumbnail_file"], isEncrypted ? nil : info?["thumbnail_url"])
    }

    /// Returns the declared MIME type if it is well-formed and matches the message type, else an unknown type.
    private static func type(_ mimeType: String?, of kind: Message.Kind) -> String {
        let mimeType = mimeType.map { $0.lowercased() } ?? ""
        let isType =
            mimeType.utf8.count <= 100 && mimeType.split(separator: "/").count == 2 && mimeType.allSatisfy(\.isASCII)
        let family: String? =
            switch kind {
            case .image: "image/"
            case .audio: "audio/"
            case .video: "video/"
            default: nil
            }
        if isType, family.map({ mimeType.hasPrefix($0) }) ?? true { return mimeType }
        return family.map { $0 + "x-unknown" } ?? "application/octet-stream"
    }

    /// Removes the quoted message that clients put before a reply before version 1.13 of the specification.
    mutating func dropReplyFallback() {
        guard text.hasPrefix("> <") || text.hasPrefix("> * <") else { return }
        var rest = text[...]
        while rest.hasPrefix("> ") || rest == ">" || rest.hasPrefix(">\n") {
            rest = rest[(rest.firstIndex(of: "\n").map(rest.index(after:)) ?? rest.endIndex)...]
        }
        if rest.hasPrefix("\n") { rest = rest.dropFirst() }
        // Keep a message that consists of nothing but a quotation.
        if !rest.allSatisfy(\.isWhitespace) { text = String(rest) }
    }

    /// Removes NUL characters, at which SQLite would truncate the text.
    private static func sanitized(_ text: String) -> String {
        text.utf8.contains(0) ? String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value != 0 })) : text
    }
}
