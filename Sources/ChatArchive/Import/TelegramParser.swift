import ChatCore
import Foundation
import JSONReading

/// Parses the JSON export of Telegram Desktop, of one chat or of all (`result.json`).
final class TelegramParser: ConversationParser, JSONReceiver {
    private lazy var stream = JSONStream(receiver: self)
    private let zone: TimeZone
    private let base: String
    private var events: [ImportEvent] = []
    /// The JSON path of the current chat.
    private var chat: [JSONStep] = []
    private var isUnderWay = false
    private var name: String?
    /// The current chat's type and ID, which is unique within the type.
    private var kind: String?
    private var number: String?
    private var ownUserID: String?

    /// - Parameters:
    ///   - zone: The time zone of times without `…_unixtime`.
    ///   - base: The folder of `result.json` with a trailing slash, or empty.
    init(zone: TimeZone = .current, base: String = "") {
        self.zone = zone
        self.base = base
    }

    func feed(_ bytes: Data) throws { try readingExport { () throws(JSONError) in try stream.feed(bytes) } }
    func finish() throws { try readingExport { () throws(JSONError) in try stream.finish() } }

    func drainEvents() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    // MARK: Document

    func entersContainer(at path: [JSONStep]) -> Bool {
        switch path.last {
        case nil: return true
        case .key("chats"), .key("left_chats"): return path.count == 1
        case .key("list"): return path.count == 2
        case .index: return path.count == 3 && path[1] == .key("list")
        case .key("messages"):
            guard path.count == 1 || path.count == 4 else { return false }
            startChat(Array(path.dropLast()))
            return true
        case .key: return false
        }
    }

    func leaveContainer(at path: [JSONStep]) {
        guard path == chat else { return }
        isUnderWay = false
        (name, kind, number) = (nil, nil, nil)
    }

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard let last = path.last else { return events.append(.skipped(.wrongType("root"))) }
        switch last {
        case .key("name") where path.count == 1 || path.count == 4: named(value.string)
        case .key("type") where path.count == 1 || path.count == 4: kind = value.string
        case .key("id") where path.count == 1 || path.count == 4: number = value.identifier
        case .key("personal_information"):
            ownUserID = value["user_id"]?.identifier.map { "user\($0)" }
        case .index where isUnderWay && path.dropLast() == chat[...] + [.key("messages")]: message(value)
        case .key("messages"), .key("list"), .key("chats"): events.append(.skipped(.wrongType("\(last.name)")))
        default: break
        }
    }

    private func named(_ text: String?) {
        name = text
        if isUnderWay, let text { events.append(.renamed(text)) }
    }

    private func startChat(_ path: [JSONStep]) {
        chat = path
        isUnderWay = true
        let source = number.map { "telegram:\(kind ?? ""):\($0)" }
        events.append(.conversation(name: name ?? "", source: source))
        if ownUserID != nil { events.append(.ownerIdentified) }
    }

    // MARK: Messages

    private func message(_ value: JSONValue) {
        guard value.object != nil else { return events.append(.skipped(.wrongType("message"))) }
        guard value["type"]?.string == "message" else {
            let action = value["action"]?.string ?? value["type"]?.string
            return events.append(
                .skipped(value["type"]?.string == "service" ? .event(action ?? "") : .unknownKind(action ?? "")))
        }
        guard let id = value["id"]?.identifier else { return events.append(.skipped(.incomplete("id"))) }
        guard let date = date(value, "date") else { return events.append(.skipped(.incomplete("date"))) }
        let sender = value["from_id"]?.identifier ?? value["from"]?.string ?? ""
        var parsed = ParsedMessage(
            id: id, senderID: sender, senderName: value["from"]?.string ?? "", text: text(value["text"]), sentAt: date)
        parsed.replyTo = value["reply_to_message_id"]?.identifier
        parsed.editedAt = self.date(value, "edited")
        parsed.isOwn = ownUserID != nil && sender == ownUserID
        addFile(of: value, to: &parsed)
        if parsed.text.isEmpty, parsed.files.isEmpty { parsed.text = substitute(value) ?? "" }
        guard !parsed.text.isEmpty || !parsed.files.isEmpty else {
            return events.append(.skipped(.unknownKind(value["media_type"]?.string ?? "message")))
        }
        events.append(.message(parsed))
        for reaction in value["reactions"]?.array ?? [] { add(reaction, to: parsed) }
    }

    /// Large groups list only the most recent users of a reaction.
    private func add(_ reaction: JSONValue, to message: ParsedMessage) {
        let users = reaction["recent"]?.array ?? []
        guard let emoji = reaction["emoji"]?.string, users.count >= reaction["count"]?.integer ?? 1 else {
            return events.append(.skipped(.reaction))
        }
        for user in users {
            let sender = user["from_id"]?.identifier ?? user["from"]?.string ?? ""
            events.append(
                .change(
                    ParsedChange(
                        target: message.id, senderID: sender, senderName: user["from"]?.string ?? "",
                        at: date(user, "date") ?? message.sentAt, kind: .reaction(emoji),
                        isOwn: ownUserID != nil && sender == ownUserID)))
        }
    }

    private func date(_ value: JSONValue, _ key: String) -> Date? {
        ParsedDate.seconds(value[key + "_unixtime"]) ?? value[key]?.string.flatMap { ParsedDate.local($0, in: zone) }
    }

    /// Returns a text, which is a string or an array of strings and formatted entities.
    private func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): return text
        case .array(let components): return components.map(component).joined()
        case nil: return ""
        default:
            events.append(.skipped(.wrongType("text")))
            return ""
        }
    }

    private func component(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        guard let text = value["text"]?.string else {
            events.append(.skipped(.wrongType("text")))
            return ""
        }
        return switch value["type"]?.string {
        case "bold": MarkdownFormatter.around(text, "**")
        case "italic": MarkdownFormatter.around(text, "_")
        case "strikethrough": MarkdownFormatter.around(text, "~~")
        case "spoiler": MarkdownFormatter.around(text, "||")
        case "code": MarkdownFormatter.code(text)
        case "pre": MarkdownFormatter.block(text, language: value["language"]?.string ?? "")
        case "blockquote": MarkdownFormatter.quote(text)
        case "text_link": MarkdownFormatter.link(text, value["href"]?.string ?? "")
        default: text
        }
    }

    private func addFile(of value: JSONValue, to message: inout ParsedMessage) {
        guard let path = value["photo"]?.string ?? value["file"]?.string else { return }
        // "(File not included. Change data exporting settings to download.)"
        guard !path.hasPrefix("(") else { return events.append(.skipped(.missingFile)) }
        let name = value["file_name"]?.string ?? String(path.split(separator: "/").last ?? "")
        message.files.append(
            ParsedMessage.File(
                path: base + path,
                media: MediaDescription(
                    name: name, type: value["mime_type"]?.string ?? FileType.type(of: path),
                    width: value["width"]?.integer.map { Int(clamping: $0) },
                    height: value["height"]?.integer.map { Int(clamping: $0) },
                    duration: value["duration_seconds"]?.integer.map {
                        Int(clamping: $0.multipliedReportingOverflow(by: 1000).partialValue)
                    },
                    // Exports contain no waveform.
                    loudness: value["media_type"]?.string == "voice_message" ? [] : nil)))
    }

    /// Returns a text for a message without one.
    private func substitute(_ value: JSONValue) -> String? {
        if let emoji = value["sticker_emoji"]?.string { return emoji }
        if let question = value["poll"]?["question"]?.string {
            let answers = value["poll"]?["answers"]?.array ?? []
            return ([question] + answers.compactMap { $0["text"]?.string }.map { "- " + $0 }).joined(separator: "\n")
        }
        if let location = value["location_information"], let latitude = location["latitude"]?.double,
            let longitude = location["longitude"]?.double
        {
            return "geo:\(latitude),\(longitude)"
        }
        if let contact = value["contact_information"] {
            return ["first_name", "last_name", "phone_number"].compactMap { contact[$0]?.string }
                .filter { !$0.isEmpty }.joined(separator: " ")
        }
        return value["file_name"]?.string ?? value["media_type"]?.string ?? value["photo"].map { _ in "photo" }
    }
}

extension JSONStep {
    var name: String {
        switch self {
        case .key(let key): key
        case .index(let index): String(index)
        }
    }
}
