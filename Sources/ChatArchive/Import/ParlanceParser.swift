import ChatCore
import Composer
import Foundation
import JSONReading

/// Parses a room that this application exported as JSON (``JSONExport``).
final class ParlanceParser: ConversationParser, JSONReceiver {
    /// The maximum number of remembered member names, because an export may contain any number.
    private static let maxNames = 200_000
    private lazy var stream = JSONStream(receiver: self)
    private var events: [ImportEvent] = []
    private var ownIDs: Set<String> = []
    private var names: [String: String] = [:]
    private var name = ""
    private var hasStarted = false
    /// Before version 2, a text without HTML was Markdown.
    private var version = 1
    private let paths: Set<String>
    private let base: String

    /// - Parameters:
    ///   - paths: All files of the export.
    ///   - base: The folder of `messages.json` with a trailing slash, or empty.
    init(paths: Set<String>, base: String) {
        self.paths = paths
        self.base = base
    }

    func feed(_ bytes: Data) throws { try readingExport { () throws(JSONError) in try stream.feed(bytes) } }
    func finish() throws { try readingExport { () throws(JSONError) in try stream.finish() } }

    func drainEvents() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    func entersContainer(at path: [JSONStep]) -> Bool {
        if path == [.key("members")] { return true }
        guard path == [.key("messages")] else { return path.isEmpty }
        hasStarted = true
        events.append(.conversation(name: name))
        if !ownIDs.isEmpty { events.append(.ownerIdentified) }
        return true
    }

    func leaveContainer(at path: [JSONStep]) {}

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        switch (path.first, path.count) {
        case (nil, _): events.append(.skipped(.wrongType("root")))
        case (.key("name"), 1):
            name = value.string ?? ""
            if hasStarted { events.append(.renamed(name)) }
        case (.key("version"), 1): version = value.integer.map { Int(clamping: $0) } ?? 1
        case (.key("members"), 2): member(value)
        case (.key("messages"), 1): events.append(.skipped(.wrongType("messages")))
        case (.key("messages"), 2): message(value)
        default: break
        }
    }

    private func member(_ value: JSONValue) {
        guard let id = value["id"]?.string, names.count < Self.maxNames else { return }
        names[id] = value["name"]?.string
        if value["kind"]?.string == Member.Kind.own.rawValue { ownIDs.insert(id) }
    }

    private func message(_ value: JSONValue) {
        guard value.object != nil else { return events.append(.skipped(.wrongType("message"))) }
        if let event = value["event"]?["kind"]?.string { return events.append(.skipped(.event(event))) }
        if value["isDeleted"]?.bool == true { return events.append(.skipped(.event("deleted"))) }
        // It could not be read when it was exported.
        if value["kind"]?.string == Message.Kind.sealed.rawValue { return events.append(.skipped(.event("sealed"))) }
        guard let id = value["id"]?.string else { return events.append(.skipped(.incomplete("id"))) }
        guard let sender = value["sender"]?.string else { return events.append(.skipped(.incomplete("sender"))) }
        guard let sentAt = Self.date(value["sentAt"]) else { return events.append(.skipped(.incomplete("sentAt"))) }
        guard let text = value["text"]?.string else { return events.append(.skipped(.wrongType("text"))) }
        guard text.utf8.count <= ChatLimits.messageBytes else { return events.append(.skipped(.tooLong)) }
        var parsed = ParsedMessage(
            id: id, senderID: sender, senderName: value["senderName"]?.string ?? names[sender] ?? sender, text: text,
            sentAt: sentAt)
        parsed.kind = value["kind"]?.string.flatMap(Message.Kind.init) ?? .text
        parsed.replyTo = value["replyTo"]?.string
        parsed.editedAt = Self.date(value["editedAt"])
        parsed.isOwn = ownIDs.contains(sender)
        parsed.html = value["html"]?.string
        parsed.isPlain = version > 1 && value["syntax"]?.string != WrittenText.Syntax.markdown.rawValue
        parsed.written = Self.written(value["written"])
        parsed.earlier = (value["revisions"]?.array ?? []).compactMap(Self.version)
        for written in parsed.earlier.compactMap(\.written) + [parsed.written].compactMap({ $0 }) {
            for case .member(let id) in written.mentions.map(\.target) {
                parsed.mentioned[id] = names[id].map {
                    ParsedMessage.MentionedUser(name: $0, isOwn: ownIDs.contains(id))
                }
            }
        }
        for file in value["files"]?.array ?? [] { add(file, to: &parsed) }
        guard !parsed.text.isEmpty || !parsed.files.isEmpty || !parsed.missing.isEmpty else {
            return events.append(.skipped(.incomplete("text")))
        }
        events.append(.message(parsed))
        var reactionDate = parsed.sentAt
        for reaction in value["reactions"]?.array ?? [] { add(reaction, to: parsed, after: &reactionDate) }
    }

    private func add(_ file: JSONValue, to message: inout ParsedMessage) {
        let altText = ParsedMessage.File.altText(file["altText"])
        guard let path = file["path"]?.string, paths.contains(base + path) else {
            events.append(.skipped(.missingFile))
            // The file was not available at the time of the export: its name stands for it.
            guard let name = altText ?? file["name"]?.string else { return }
            message.missing.append(name)
            return
        }
        func number(_ key: String) -> Int? { file[key]?.integer.map { Int(clamping: $0) } }
        message.files.append(
            ParsedMessage.File(
                path: base + path,
                media: MediaDescription(
                    name: file["name"]?.string ?? "", type: file["type"]?.string ?? FileType.type(of: path),
                    width: number("width"), height: number("height"), duration: number("duration"),
                    altText: altText, blurHash: file["blurHash"]?.string,
                    loudness: file["loudness"]?.array.map(ParsedMessage.File.waveform))))
    }

    /// Returns `nil` for an invalid source; ``ParsedMessage/text`` is used then.
    private static func written(_ value: JSONValue?) -> WrittenText? {
        guard let value, value.object != nil, let data = try? JSONEncoder().encode(value) else { return nil }
        return try? JSONDecoder().decode(WrittenText.self, from: data)
    }

    private static func version(_ value: JSONValue) -> ParsedMessage.Version? {
        guard let text = value["text"]?.string, text.utf8.count <= ChatLimits.messageBytes,
            let at = date(value["writtenAt"])
        else { return nil }
        return ParsedMessage.Version(
            text: text, html: value["html"]?.string, written: written(value["written"]), at: at)
    }

    /// - Parameter date: The time of the preceding reaction. Exports contain no times of reactions, only their order,
    ///   and stored times are in milliseconds.
    private func add(_ reaction: JSONValue, to message: ParsedMessage, after date: inout Date) {
        guard let text = reaction["text"]?.string, let senders = reaction["senders"]?.array else {
            return events.append(.skipped(.reaction))
        }
        for sender in senders.compactMap(\.string) {
            date += 0.001
            events.append(
                .change(
                    ParsedChange(
                        target: message.id, senderID: sender, senderName: names[sender] ?? sender, at: date,
                        kind: .reaction(text), isOwn: ownIDs.contains(sender))))
        }
    }

    /// Returns `nil` for anything but a date: a message without one is skipped, and other dates are optional.
    private static func date(_ value: JSONValue?) -> Date? {
        guard let text = value?.string else { return nil }
        return try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
