import ChatCore
import Foundation
import JSONReading

/// Parses Element's JSON export of a room, which contains Matrix events.
final class ElementParser: ConversationParser, JSONReceiver {
    private lazy var stream = JSONStream(receiver: self)
    private var events: [ImportEvent] = []
    private var names: [String: String] = [:]
    private var name = ""
    private var hasStarted = false
    /// The maximum number of remembered member names, because an export may contain any number.
    private static let maxNames = 200_000
    private let files: ElementFiles

    init(files: ElementFiles) {
        self.files = files
    }

    func feed(_ bytes: Data) throws { try readingExport { () throws(JSONError) in try stream.feed(bytes) } }
    func finish() throws { try readingExport { () throws(JSONError) in try stream.finish() } }

    func drainEvents() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    func entersContainer(at path: [JSONStep]) -> Bool {
        guard path == [.key("messages")] else { return path.isEmpty }
        hasStarted = true
        events.append(.conversation(name: name))
        return true
    }

    func leaveContainer(at path: [JSONStep]) {}

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        switch (path.first, path.count) {
        case (nil, _): events.append(.skipped(.wrongType("root")))
        case (.key("room_name"), 1):
            name = value.string ?? ""
            if hasStarted { events.append(.renamed(name)) }
        case (.key("messages"), 1): events.append(.skipped(.wrongType("messages")))
        case (.key("messages"), 2): event(value)
        default: break
        }
    }

    private func event(_ value: JSONValue) {
        guard value.object != nil, let type = value["type"]?.string else {
            return events.append(.skipped(.wrongType("event")))
        }
        switch type {
        case "m.room.member":
            if let member = value["state_key"]?.string ?? value["sender"]?.string,
                let name = value["content"]?["displayname"]?.string, names.count < Self.maxNames
            {
                names[member] = name
            }
            events.append(.skipped(.event(type)))
        case "m.room.message", "m.sticker": message(value, type)
        case "m.reaction": reaction(value)
        default: events.append(.skipped(type.hasPrefix("m.") ? .event(type) : .unknownKind(type)))
        }
    }

    private func message(_ value: JSONValue, _ type: String) {
        guard let id = value["event_id"]?.string else { return events.append(.skipped(.incomplete("event_id"))) }
        guard let sender = value["sender"]?.string else { return events.append(.skipped(.incomplete("sender"))) }
        guard let milliseconds = value["origin_server_ts"]?.double, abs(milliseconds) < 1e14 else {
            return events.append(.skipped(.incomplete("origin_server_ts")))
        }
        let content = value["content"]
        let relation = content?["m.relates_to"]
        if relation?["rel_type"]?.string == "m.replace" { return edit(content, sender, milliseconds) }
        guard let body = content?["body"]?.string else {
            // A redacted event has no content.
            return events.append(.skipped(content?.object?.isEmpty == true ? .event("redacted") : .wrongType("body")))
        }
        var parsed = ParsedMessage(
            id: id, senderID: sender, senderName: names[sender] ?? sender, text: body,
            sentAt: Date(timeIntervalSince1970: milliseconds / 1000))
        parsed.isPlain = true
        parsed.html = Self.html(content)
        parsed.replyTo = Self.repliedToID(relation)
        if parsed.replyTo != nil { parsed.text = Self.withoutFallback(body) }
        switch content?["msgtype"]?.string {
        case "m.emote": parsed.kind = .emote
        case "m.notice": parsed.kind = .notice
        case "m.image", "m.file", "m.audio", "m.video": addFile(content, type, to: &parsed)
        default: if type == "m.sticker" { addFile(content, type, to: &parsed) }
        }
        guard !parsed.text.isEmpty || !parsed.files.isEmpty else {
            return events.append(.skipped(.incomplete("body")))
        }
        events.append(.message(parsed))
    }

    /// Returns the replied-to message; in a thread without an explicit reply, the thread's root.
    private static func repliedToID(_ relation: JSONValue?) -> String? {
        let replyID = relation?["m.in_reply_to"]?["event_id"]?.string
        guard relation?["rel_type"]?.string == "m.thread" else { return replyID }
        let isFallback = relation?["is_falling_back"] == .bool(true)
        return isFallback ? relation?["event_id"]?.string : replyID ?? relation?["event_id"]?.string
    }

    private func reaction(_ value: JSONValue) {
        let relation = value["content"]?["m.relates_to"]
        guard let target = relation?["event_id"]?.string, let key = relation?["key"]?.string,
            let sender = value["sender"]?.string
        else {
            // A redacted reaction has no content.
            let isEmpty = value["content"]?.object?.isEmpty == true
            return events.append(.skipped(isEmpty ? .event("redacted") : .reaction))
        }
        change(target, sender, value["origin_server_ts"]?.double ?? 0, .reaction(key))
    }

    private func edit(_ content: JSONValue?, _ sender: String, _ milliseconds: Double) {
        guard let target = content?["m.relates_to"]?["event_id"]?.string,
            let text = content?["m.new_content"]?["body"]?.string, text.utf8.count <= ChatLimits.messageBytes
        else { return events.append(.skipped(.edit)) }
        let html = Self.html(content?["m.new_content"])
        change(target, sender, milliseconds, .edit(ParsedMessage.plain(text, html: html)))
    }

    /// Returns the formatted body, if there is one.
    private static func html(_ content: JSONValue?) -> String? {
        content?["format"]?.string == "org.matrix.custom.html" ? content?["formatted_body"]?.string : nil
    }

    private func change(_ target: String, _ sender: String, _ milliseconds: Double, _ kind: ImportedChange.Kind) {
        let date = Date(timeIntervalSince1970: abs(milliseconds) < 1e14 ? milliseconds / 1000 : 0)
        events.append(
            .change(
                ParsedChange(
                    target: target, senderID: sender, senderName: names[sender] ?? sender, at: date, kind: kind)))
    }

    private func addFile(_ content: JSONValue?, _ type: String, to message: inout ParsedMessage) {
        let info = content?["info"]
        let isVoice = content?["org.matrix.msc3245.voice"] != nil || content?["m.voice"] != nil
        // With a caption, `body` is the caption and `filename` the name.
        let name = content?["filename"]?.string ?? message.text
        guard
            let path = files.path(
                of: message.text, kind: type == "m.sticker" ? type : content?["msgtype"]?.string ?? "",
                isVoice: isVoice, sentAt: message.sentAt)
        else { return events.append(.skipped(.missingFile)) }
        let altText = Self.altText(content)
        func number(_ key: String) -> Int? { info?[key]?.integer.map { Int(clamping: $0) } }
        let audio = content?["org.matrix.msc1767.audio"]
        let duration = number("duration") ?? audio?["duration"]?.integer.map { Int(clamping: max(0, $0)) }
        let isVoiceMessage = isVoice && content?["msgtype"]?.string == "m.audio"
        let waveform = ParsedMessage.File.waveform(audio?["waveform"]?.array ?? [])
        message.files.append(
            ParsedMessage.File(
                path: path,
                media: MediaDescription(
                    name: name, type: info?["mimetype"]?.string ?? FileType.type(of: path), width: number("w"),
                    height: number("h"), duration: duration, altText: altText, blurHash: Self.blurHash(info),
                    loudness: isVoiceMessage ? waveform : nil)))
        // Alternative text is sent as `body` for clients that do not support it.
        if name == message.text || altText == message.text { (message.text, message.html) = ("", nil) }
    }

    /// Checks only the length and characters; the renderer decodes it.
    private static func blurHash(_ info: JSONValue?) -> String? {
        let text = (info?["xyz.amorgan.blurhash"] ?? info?["blurhash"])?.string
        return text.flatMap { (6...166).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 } ? $0 : nil }
    }

    /// Returns the plain-text alternative text (MSC3552).
    private static func altText(_ content: JSONValue?) -> String? {
        let block = content?["m.alt_text"] ?? content?["org.matrix.msc1767.alt_text"]
        let forms = (block?["m.text"] ?? block?["org.matrix.msc1767.text"])?.array ?? []
        let plain = forms.first { ($0["mimetype"]?.string ?? "text/plain") == "text/plain" }
        return ParsedMessage.File.altText(plain?["body"] ?? block?["org.matrix.msc1767.text"])
    }

    /// Returns the text without the reply fallback of older clients.
    private static func withoutFallback(_ text: String) -> String {
        guard text.hasPrefix("> <") || text.hasPrefix("> * <") else { return text }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let rest = lines.drop { $0.hasPrefix(">") }
        return rest.drop { $0.isEmpty }.joined(separator: "\n")
    }
}
