import ChatCore
import Foundation

/// Parses WhatsApp's text export of a chat, whose date order was detected beforehand.
final class WhatsAppParser: ConversationParser {
    /// The maximum size of a message in bytes.
    private static let maxMessageBytes = ChatLimits.messageBytes

    private let order: WhatsAppDates.Order
    private let zone: TimeZone
    private let files: Set<String>
    private let folder: String
    private var lines = LineSplitter()
    private var events: [ImportEvent] = []
    private var pending: ParsedMessage?
    /// How often each ID was used among messages with the same time.
    private var names: [String: Int] = [:]
    private var lastTime = ""
    private let isNamed: Bool
    /// The first five senders.
    private var senders: [String] = []

    /// - Parameters:
    ///   - name: The conversation's name; if empty, it is named after its senders.
    ///   - files: The paths of the export's other files.
    ///   - folder: The folder of those paths, with a trailing slash.
    init(
        name: String, order: WhatsAppDates.Order, files: Set<String> = [], folder: String = "",
        zone: TimeZone = .current
    ) {
        self.order = order
        self.zone = zone
        self.files = files
        self.folder = folder
        isNamed = !name.isEmpty
        events = [.conversation(name: name)]
    }

    func feed(_ bytes: Data) throws {
        try lines.feed(bytes) { line in self.line(line) }
    }

    func finish() throws {
        try lines.finish { line in self.line(line) }
        flush()
        if !isNamed, !senders.isEmpty { events.append(.renamed(senders.joined(separator: ", "))) }
    }

    func drainEvents() -> [ImportEvent] {
        defer { events = [] }
        return events
    }

    /// Detects the date format from the beginning of an export.
    static func dates(in text: Data) -> WhatsAppDates {
        var dates = WhatsAppDates()
        var lines = LineSplitter()
        // Ignore errors in splitting lines: this only looks ahead, and parsing will throw them again.
        try? lines.feed(text) { line in if let line = WhatsAppLine(line) { dates.note(line) } }
        try? lines.finish { line in if let line = WhatsAppLine(line) { dates.note(line) } }
        return dates
    }

    // MARK: Lines

    private func line(_ line: Substring) {
        guard let start = WhatsAppLine(line) else { return more(line) }
        flush()
        guard let components = WhatsAppDates.components(of: start, order),
            let date = ParsedDate.date(
                year: components.year, month: components.month, day: components.day, hour: start.hour,
                minute: start.minute,
                second: start.second, in: zone)
        else { return events.append(.skipped(.incomplete("date"))) }
        // An event such as "Ann was added" has no sender.
        guard let (sender, text) = Self.sender(start.rest) else { return events.append(.skipped(.event("notice"))) }
        if senders.count < 5, !senders.contains(sender) { senders.append(sender) }
        let day = [components.year, components.month, components.day].map(String.init).joined(separator: "-")
        let time = "\(day).\(start.hour)-\(start.minute)-\(start.second)"
        pending = ParsedMessage(id: time, senderID: sender, senderName: sender, text: text, sentAt: date)
    }

    private func more(_ line: Substring) {
        guard pending != nil else {
            if !line.allSatisfy(\.isWhitespace) { events.append(.skipped(.strayLine)) }
            return
        }
        guard pending?.text.utf8.count ?? 0 < Self.maxMessageBytes else { return }
        pending?.text += "\n" + line
    }

    private static func sender(_ rest: Substring) -> (String, String)? {
        guard let colon = rest.firstIndex(of: ":"), colon > rest.startIndex else { return nil }
        let after = rest[rest.index(after: colon)...]
        guard after.isEmpty || after.first == " " || after.first == "\u{200E}" else { return nil }
        let name = String(String.UnicodeScalarView(rest[..<colon].unicodeScalars.drop(while: WhatsAppLine.isMark)))
        // Sentences may contain colons too, but seldom after so few words. "~ Ann" is a sender who is not in the
        // address book.
        guard name.count <= 60, name.split(separator: " ").count <= 6 else { return nil }
        return (
            name.hasPrefix("~") ? String(name.dropFirst().drop(while: \.isWhitespace)) : name, String(after.dropFirst())
        )
    }

    private func flush() {
        guard var message = pending else { return }
        pending = nil
        while message.text.last?.isNewline == true { message.text.removeLast() }
        message.id = name(message)
        attach(&message)
        message.text = MarkdownFromWhatsApp.text(message.text)
        guard message.text.contains(where: { !$0.isWhitespace }) || !message.files.isEmpty else {
            return events.append(.skipped(.incomplete("text")))
        }
        events.append(.message(message))
    }

    /// Returns an ID that is the same in every export of the chat, whichever part of it is exported: the time, a
    /// hash of the text, and a counter for duplicates. The sender is not included, because contacts may be renamed.
    private func name(_ message: ParsedMessage) -> String {
        if message.id != lastTime { (names, lastTime) = ([:], message.id) }
        let digest = message.text.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let name = message.id + "." + String(digest, radix: 16)
        let count = names[name, default: 0]
        names[name] = count + 1
        return count == 0 ? name : "\(name).\(count)"
    }

    // MARK: Files

    /// Attaches a file from its localized line: `<attached: 0001-PHOTO.jpg>` on iOS, `IMG-0001.jpg (file attached)` on
    /// Android.
    private func attach(_ message: inout ParsedMessage) {
        let first = message.text.prefix { !$0.isNewline }
        let line = String(String.UnicodeScalarView(first.unicodeScalars.filter { !WhatsAppLine.isMark($0) }))
        if line == "<Media omitted>" || line.hasSuffix(" omitted") && line.split(separator: " ").count <= 2 {
            events.append(.skipped(.missingFile))
            return
        }
        let name: String
        if line.hasPrefix("<"), line.hasSuffix(">"), let colon = line.firstIndex(of: ":") {
            name = String(line[line.index(after: colon)...].dropLast().drop { $0 == " " })
        } else if line.hasSuffix(")"), let open = line.range(of: " (", options: .backwards) {
            name = String(line[..<open.lowerBound])
        } else {
            return
        }
        guard !name.isEmpty, files.contains(folder + name) else {
            let isFile = line.hasPrefix("<") || name.contains(".") && !name.contains(" ")
            if isFile { events.append(.skipped(.missingFile)) }
            return
        }
        message.files = [
            ParsedMessage.File(
                path: folder + name, media: MediaDescription(name: name, type: FileType.type(of: name)))
        ]
        message.text = String(message.text.dropFirst(first.count).drop(while: \.isNewline))
    }
}

/// Converts WhatsApp's `*bold*` and `~struck~` to Markdown; `_italic_` and code are the same.
enum MarkdownFromWhatsApp {
    static func text(_ text: String) -> String {
        guard text.contains(where: { $0 == "*" || $0 == "~" }) else { return text }
        return SlackText.styled(text[...], unescaping: false)
    }
}

/// Splits bytes into lines; invalid UTF-8 becomes U+FFFD.
struct LineSplitter {
    private var rest = Data()
    private var isFirst = true

    /// - Throws: ``ArchiveError/tooLong(limit:)`` for a line longer than the maximum message size.
    mutating func feed(_ bytes: Data, _ line: (Substring) -> Void) throws {
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            emit(rest + bytes[start..<end], line)
            rest = Data()
            start = bytes.index(after: end)
        }
        rest += bytes[start...]
        if rest.count > ChatLimits.messageBytes { throw ArchiveError.tooLong(limit: ChatLimits.messageBytes) }
    }

    mutating func finish(_ line: (Substring) -> Void) throws {
        if !rest.isEmpty { emit(rest, line) }
        rest = Data()
    }

    private mutating func emit(_ bytes: Data, _ line: (Substring) -> Void) {
        var bytes = bytes
        if isFirst, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        isFirst = false
        if bytes.last == 0x0D { bytes = bytes.dropLast() }
        line(String(decoding: bytes, as: UTF8.self)[...])
    }
}
