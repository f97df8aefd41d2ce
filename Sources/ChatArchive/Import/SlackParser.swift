import ChatCore
import Foundation
import JSONReading

/// Parses a day of a conversation in a Slack export: an array of messages.
final class SlackParser: ConversationParser, JSONReceiver {
    /// The names of users and channels by ID.
    struct Directory {
        var userNames: [String: String] = [:]
        var channels: [String: String] = [:]
        /// Returns the emoji for a short code.
        var emoji: @Sendable (String) -> String? = { _ in nil }
    }

    private lazy var stream = JSONStream(receiver: self)
    private let directory: Directory
    private let files: SlackFiles
    private let folder: String
    private var events: [ImportEvent] = []

    /// - Parameter folder: The folder of the conversation's days.
    init(directory: Directory, files: SlackFiles, folder: String) {
        self.directory = directory
        self.files = files
        self.folder = folder
    }

    func feed(_ bytes: Data) throws { try readingExport { () throws(JSONError) in try stream.feed(bytes) } }
    func finish() throws { try readingExport { () throws(JSONError) in try stream.finish() } }

    func drainEvents() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    func entersContainer(at path: [JSONStep]) -> Bool { path.isEmpty }
    func leaveContainer(at path: [JSONStep]) {}

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard case .index? = path.last else { return events.append(.skipped(.wrongType("root"))) }
        guard value.object != nil, value["type"]?.string == "message" else {
            return events.append(
                .skipped(value["type"]?.string.map { .unknownKind($0) } ?? .wrongType("message")))
        }
        if value["subtype"]?.string == "message_changed" { return edit(value) }
        if let subtype = value["subtype"]?.string, !Self.messageSubtypes.contains(subtype) {
            return events.append(.skipped(.event(subtype)))
        }
        message(value)
    }

    private static let messageSubtypes: Set<String> = [
        "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment",
    ]

    private func message(_ value: JSONValue) {
        guard let time = value["ts"]?.identifier ?? value["ts"]?.double.map({ String($0) }),
            let date = ParsedDate.seconds(.string(time))
        else { return events.append(.skipped(.incomplete("ts"))) }
        guard let text = value["text"]?.string ?? (value["text"] == nil ? "" : nil) else {
            return events.append(.skipped(.wrongType("text")))
        }
        guard text.utf8.count <= ChatLimits.messageBytes else { return events.append(.skipped(.tooLong)) }
        let sender = value["user"]?.string ?? value["bot_id"]?.string ?? value["username"]?.string ?? ""
        let name = name(of: sender, value)
        var parsed = ParsedMessage(
            id: time, senderID: sender, senderName: name, text: SlackText.markdown(text, directory), sentAt: date)
        if value["subtype"]?.string == "me_message" { parsed.kind = .emote }
        if let thread = value["thread_ts"]?.identifier, thread != time { parsed.replyTo = thread }
        parsed.editedAt = ParsedDate.seconds(value["edited"]?["ts"])
        for file in value["files"]?.array ?? [] { add(file, to: &parsed) }
        guard !parsed.text.isEmpty || !parsed.files.isEmpty else {
            return events.append(.skipped(.incomplete("text")))
        }
        events.append(.message(parsed))
        var reactionDate = parsed.sentAt
        for reaction in value["reactions"]?.array ?? [] { add(reaction, to: parsed, after: &reactionDate) }
    }

    private func name(of user: String, _ value: JSONValue) -> String {
        directory.userNames[user] ?? value["user_profile"]?["real_name"]?.string ?? value["username"]?.string ?? user
    }

    private func add(_ file: JSONValue, to message: inout ParsedMessage) {
        let name = file["name"]?.string ?? file["title"]?.string
        if let path = files.path(of: file, in: folder) {
            func number(_ key: String) -> Int? { file[key]?.integer.map { Int(clamping: $0) } }
            message.files.append(
                ParsedMessage.File(
                    path: path,
                    media: MediaDescription(
                        name: name ?? String(path.split(separator: "/").last ?? ""),
                        type: file["mimetype"]?.string ?? FileType.type(of: path), width: number("original_w"),
                        height: number("original_h"), duration: number("duration_ms"),
                        altText: ParsedMessage.File.altText(file["alt_txt"]))))
            return
        }
        // Without a download tool, an export has only URLs that require signing in to Slack.
        events.append(.skipped(.missingFile))
        guard let name else { return }
        message.text +=
            (message.text.isEmpty ? "" : "\n") + MarkdownFormatter.link(name, file["permalink"]?.string ?? "")
    }

    /// - Parameter date: The time of the preceding change. Reactions have no times in exports, only an order.
    private func add(_ reaction: JSONValue, to message: ParsedMessage, after date: inout Date) {
        guard let code = reaction["name"]?.string else { return events.append(.skipped(.reaction)) }
        let users = (reaction["users"]?.array ?? []).compactMap(\.string)
        // The list of users may be incomplete.
        if users.count < reaction["count"]?.integer ?? 0 { events.append(.skipped(.reaction)) }
        for user in users {
            date += 0.001
            events.append(
                .change(
                    ParsedChange(
                        target: message.id, senderID: user, senderName: directory.userNames[user] ?? user,
                        at: date, kind: .reaction(directory.emoji(code) ?? ":\(code):"))))
        }
    }

    private func edit(_ value: JSONValue) {
        guard let message = value["message"], let target = message["ts"]?.identifier,
            let sender = message["user"]?.string, let text = message["text"]?.string,
            text.utf8.count <= ChatLimits.messageBytes,
            let date = ParsedDate.seconds(message["edited"]?["ts"] ?? value["ts"])
        else { return events.append(.skipped(.edit)) }
        events.append(
            .change(
                ParsedChange(
                    target: target, senderID: sender, senderName: name(of: sender, message), at: date,
                    kind: .edit(Wording(SlackText.markdown(text, directory))))))
    }
}

/// Converts Slack's markup to Markdown.
enum SlackText {
    static func markdown(_ text: String, _ directory: SlackParser.Directory) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            result += emoji(styled(rest[..<open]), directory)
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: ">") else {
                result += "<"
                break
            }
            result += reference(rest[..<close], directory)
            rest = rest[rest.index(after: close)...]
        }
        return result + emoji(styled(rest), directory)
    }

    /// Replaces known short codes with emoji.
    private static func emoji(_ text: String, _ directory: SlackParser.Directory) -> String {
        guard text.contains(":") else { return text }
        return text.replacing(#/:([a-z0-9_+'\-]{1,60}(?:::skin-tone-[2-6])?):/#) { match in
            directory.emoji(String(match.output.1)) ?? String(match.output.0)
        }
    }

    /// Converts a reference in angle brackets: a user, a channel, a group mention or a URL.
    private static func reference(_ inner: Substring, _ directory: SlackParser.Directory) -> String {
        let components = inner.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let (target, label) = (components[0], components.count > 1 ? unescaped(components[1]) : nil)
        switch target.first {
        case "@": return "@" + (directory.userNames[String(target.dropFirst())] ?? label ?? String(target.dropFirst()))
        case "#": return "#" + (label ?? directory.channels[String(target.dropFirst())] ?? String(target.dropFirst()))
        case "!": return "@" + (label ?? String(target.dropFirst().prefix { $0 != "^" }))
        default:
            let address = unescaped(target)
            return label.map { $0 == address ? address : MarkdownFormatter.link($0, address) } ?? address
        }
    }

    /// Converts `*bold*` and `~struck~`, if the delimiters are at word boundaries.
    static func styled(_ text: Substring, unescaping: Bool = true) -> String {
        var result = ""
        var rest = (unescaping ? unescaped(String(text)) : String(text))[...]
        while let delimiterIndex = rest.firstIndex(where: { $0 == "*" || $0 == "~" || $0 == "`" }) {
            let before = delimiterIndex > rest.startIndex ? rest[rest.index(before: delimiterIndex)] : result.last
            let after = rest.index(after: delimiterIndex)
            guard before.map({ !$0.isLetter && !$0.isNumber }) ?? true,
                let end = rest[after...].firstIndex(where: { $0 == rest[delimiterIndex] || $0.isNewline }),
                rest[end] == rest[delimiterIndex],
                end > after, !rest[after].isWhitespace, !rest[rest.index(before: end)].isWhitespace
            else {
                result += rest[...delimiterIndex]
                rest = rest[after...]
                continue
            }
            let double = rest[delimiterIndex] == "*" ? "**" : rest[delimiterIndex] == "~" ? "~~" : "`"
            result += rest[..<delimiterIndex] + double + rest[after..<end] + double
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
