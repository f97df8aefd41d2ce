import ChatCore
import Foundation
import JSONReading

/// One day of a channel in Slack's export: a list of messages.
final class SlackParser: ConversationParser, JSONReceiver {
    /// Who and what is named in messages by identifiers.
    struct Directory {
        var people: [String: String] = [:]
        var channels: [String: String] = [:]
    }

    private lazy var stream = JSONStream(receiver: self)
    private let directory: Directory
    private var events: [ImportEvent] = []

    init(directory: Directory) {
        self.directory = directory
    }

    func feed(_ bytes: Data) throws { try stream.feed(bytes) }
    func finish() throws { try stream.finish() }

    func take() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    func entersContainer(at path: [JSONStep]) -> Bool { path.isEmpty }
    func leaveContainer(at path: [JSONStep]) {}

    func receive(_ value: JSONValue, at path: [JSONStep]) {
        guard case .index? = path.last else { return events.append(.omission(.wrongType("root"))) }
        guard value.object != nil, value["type"]?.string == "message" else {
            return events.append(
                .omission(value["type"]?.string.map { .unknownKind($0) } ?? .wrongType("message")))
        }
        if let subtype = value["subtype"]?.string, !Self.spoken.contains(subtype) {
            return events.append(.omission(.event(subtype)))
        }
        message(value)
    }

    private static let spoken: Set<String> = [
        "bot_message", "me_message", "thread_broadcast", "file_share", "file_comment",
    ]

    private func message(_ value: JSONValue) {
        guard let time = value["ts"]?.identifier ?? value["ts"]?.double.map({ String($0) }),
            let date = ParsedDate.seconds(.string(time))
        else { return events.append(.omission(.incomplete("ts"))) }
        guard let text = value["text"]?.string ?? (value["text"] == nil ? "" : nil) else {
            return events.append(.omission(.wrongType("text")))
        }
        let sender = value["user"]?.string ?? value["bot_id"]?.string ?? value["username"]?.string ?? ""
        let name =
            directory.people[sender] ?? value["user_profile"]?["real_name"]?.string ?? value["username"]?.string
            ?? sender
        var parsed = ParsedMessage(
            id: time, senderID: sender, senderName: name, text: SlackText.markdown(text, directory), sentAt: date)
        if value["subtype"]?.string == "me_message" { parsed.kind = .emote }
        if let thread = value["thread_ts"]?.identifier, thread != time { parsed.replyTo = thread }
        parsed.editedAt = ParsedDate.seconds(value["edited"]?["ts"])
        let files = value["files"]?.array ?? []
        for file in files {
            // An export has addresses of files, behind Slack's log-in, not the files.
            events.append(.omission(.missingFile))
            guard let name = file["name"]?.string ?? file["title"]?.string else { continue }
            parsed.text += (parsed.text.isEmpty ? "" : "\n") + MarkdownMarks.link(name, file["permalink"]?.string ?? "")
        }
        if value["reactions"]?.array?.isEmpty == false { events.append(.omission(.reaction)) }
        guard !parsed.text.isEmpty else { return events.append(.omission(.incomplete("text"))) }
        events.append(.message(parsed))
    }
}

/// Slack's marks as Markdown.
enum SlackText {
    static func markdown(_ text: String, _ directory: SlackParser.Directory) -> String {
        var result = ""
        var rest = text[...]
        while let open = rest.firstIndex(of: "<") {
            result += styled(rest[..<open])
            rest = rest[rest.index(after: open)...]
            guard let close = rest.firstIndex(of: ">") else {
                result += "<"
                continue
            }
            result += reference(rest[..<close], directory)
            rest = rest[rest.index(after: close)...]
        }
        return result + styled(rest)
    }

    /// What stands between angle brackets: a person, a channel, everyone, or an address.
    private static func reference(_ inner: Substring, _ directory: SlackParser.Directory) -> String {
        let parts = inner.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false).map { String($0) }
        let (target, label) = (parts[0], parts.count > 1 ? unescaped(parts[1]) : nil)
        switch target.first {
        case "@": return "@" + (directory.people[String(target.dropFirst())] ?? label ?? String(target.dropFirst()))
        case "#": return "#" + (label ?? directory.channels[String(target.dropFirst())] ?? String(target.dropFirst()))
        case "!": return "@" + (label ?? String(target.dropFirst().prefix { $0 != "^" }))
        default:
            let address = unescaped(target)
            return label.map { $0 == address ? address : MarkdownMarks.link($0, address) } ?? address
        }
    }

    /// `*bold*` and `~struck~`, where the marks stand at the edges of words.
    static func styled(_ text: Substring, unescaping: Bool = true) -> String {
        var result = ""
        var rest = (unescaping ? unescaped(String(text)) : String(text))[...]
        while let mark = rest.firstIndex(where: { $0 == "*" || $0 == "~" || $0 == "`" }) {
            let before = mark > rest.startIndex ? rest[rest.index(before: mark)] : result.last
            let after = rest.index(after: mark)
            guard before.map({ !$0.isLetter && !$0.isNumber }) ?? true,
                let end = rest[after...].firstIndex(where: { $0 == rest[mark] || $0.isNewline }),
                rest[end] == rest[mark],
                end > after, !rest[after].isWhitespace, !rest[rest.index(before: end)].isWhitespace
            else {
                result += rest[...mark]
                rest = rest[after...]
                continue
            }
            let double = rest[mark] == "*" ? "**" : rest[mark] == "~" ? "~~" : "`"
            result += rest[..<mark] + double + rest[after..<end] + double
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }
}
