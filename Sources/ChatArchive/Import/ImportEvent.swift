import ChatCore
import Composer
import Foundation
import JSONReading
import MessageMarkup

/// What a parser finds in an export, in order.
enum ImportEvent: Equatable {
    /// Begins a conversation, to which the following messages belong.
    ///
    /// - Parameter source: A stable ID of the conversation in the other program, if the export has one.
    case conversation(name: String, source: String? = nil)
    /// The export says who the user is in the current conversation (``ParsedMessage/isOwn``): others with the user's name
    /// are other people.
    case ownerIdentified
    /// Renames the current conversation.
    case renamed(String)
    case message(ParsedMessage)
    case change(ParsedChange)
    case skipped(ImportReport.SkippedItem)
}

/// A message of an export.
struct ParsedMessage: Equatable {
    /// An attached file, by its path in the export.
    struct File: Equatable {
        var path: String
        var media: MediaDescription

        /// Returns an alternative text, or `nil` if it is empty or longer than 10,000 bytes.
        static func altText(_ value: JSONValue?) -> String? {
            value?.string.flatMap { (1...10_000).contains($0.utf8.count) ? $0 : nil }
        }

        /// Downsamples a waveform to ``MediaDescription/maxWaveformSamples``, each the maximum of the samples it
        /// replaces.
        static func waveform(_ samples: [JSONValue]) -> [Int] {
            let values = samples.prefix(10_000).map { value in
                Int(min(max(value.integer ?? 0, 0), Int64(MediaDescription.maxAmplitude)))
            }
            let count = min(values.count, MediaDescription.maxWaveformSamples)
            return (0..<count).map { index in
                values[index * values.count / count..<max((index + 1) * values.count / count, index + 1)].max() ?? 0
            }
        }
    }

    /// Unique in the conversation.
    var id: String
    /// Unique in the export; the sender's name if there is no ID.
    var senderID: String
    var senderName: String
    /// Markdown, unless ``isPlain``.
    var text: String
    var sentAt: Date
    /// Whether ``text`` is plain text.
    var isPlain = false
    /// The text as HTML.
    var html: String?
    /// The source as typed, with the export's member IDs.
    var written: WrittenText?
    /// The versions before edits, oldest first.
    var earlier: [Version] = []
    /// The users in mention marks, by the export's IDs.
    var mentioned: [String: MentionedUser] = [:]
    var kind = Message.Kind.text
    var replyTo: String?
    var editedAt: Date?
    var files: [File] = []
    /// The texts that stand for missing files.
    var missing: [String] = []
    /// Whether the export identifies the user as the sender.
    var isOwn = false

    /// A version before an edit.
    struct Version: Equatable {
        var text: String
        var html: String?
        var written: WrittenText?
        var at: Date
    }

    struct MentionedUser: Equatable {
        var name: String
        var isOwn: Bool
    }

    /// The approximate size of the message in bytes.
    var size: Int {
        let wordingBytes = earlier.reduce(text.utf8.count + (html?.utf8.count ?? 0)) {
            $0 + $1.text.utf8.count + ($1.html?.utf8.count ?? 0)
        }
        return files.reduce(id.utf8.count + senderID.utf8.count + senderName.utf8.count + wordingBytes) {
            $0 + $1.path.utf8.count + $1.media.name.utf8.count + ($1.media.altText?.utf8.count ?? 0)
        }
    }
}

extension ParsedMessage {
    /// Returns plain text in its stored form: with its HTML, or with generated HTML if it would otherwise be parsed as
    /// Markdown.
    static func plain(_ text: String, html: String?) -> Wording {
        if let html, html.utf8.count <= ChatLimits.messageBytes { return Wording(text, html: html) }
        let body = MessageMarkup.body(plain: text)
        return Wording(
            text, html: MessageMarkup.body(markdown: text) == body ? nil : MessageMarkup.html(of: body))
    }
}

/// An edit or a reaction in an export.
struct ParsedChange: Equatable {
    var target: String
    var senderID: String
    var senderName: String
    var at: Date
    var kind: ImportedChange.Kind
    var isOwn = false

    /// The approximate size of the change in bytes.
    var size: Int {
        let html = if case .edit(let wording) = kind { wording.html?.utf8.count ?? 0 } else { 0 }
        return target.utf8.count + senderID.utf8.count + senderName.utf8.count + text.utf8.count + html
    }

    /// The text of the edit or of the reaction.
    var text: String {
        switch kind {
        case .edit(let wording): wording.text
        case .reaction(let text): text
        }
    }
}

/// An incremental parser of an export format.
protocol ConversationParser: AnyObject {
    /// Parses further bytes.
    /// - Throws: ``ArchiveError``.
    func feed(_ bytes: Data) throws
    /// Ends the input.
    /// - Throws: ``ArchiveError``.
    func finish() throws
    /// Returns the events found since the last call.
    func drainEvents() -> [ImportEvent]
}

enum ParsedDate {
    /// Returns a date from seconds since 1970, given as a number or a string.
    static func seconds(_ value: JSONValue?) -> Date? {
        guard let seconds = value?.double, seconds.isFinite, abs(seconds) < 1e11 else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    /// Returns the date of a local time, or `nil` for an invalid one, such as February 31.
    static func date(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int, in zone: TimeZone
    ) -> Date? {
        let lengths = [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...9999).contains(year), (1...12).contains(month), (1...lengths[month - 1]).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        // Days since 1970 in the proleptic Gregorian calendar, by Howard Hinnant's `days_from_civil`.
        let years = month <= 2 ? year - 1 : year
        let era = years / 400
        let yearOfEra = years - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        let local = TimeInterval(days * 86_400 + hour * 3600 + minute * 60 + second)
        let guess = Date(timeIntervalSince1970: local - TimeInterval(zone.secondsFromGMT()))
        return Date(timeIntervalSince1970: local - TimeInterval(zone.secondsFromGMT(for: guess)))
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    /// Parses `2020-01-31T23:59:59` in a time zone.
    static func local(_ text: String, in zone: TimeZone) -> Date? {
        let numbers = text.split(whereSeparator: { !$0.isASCII || !$0.isNumber }).compactMap { Int($0) }
        guard numbers.count == 6 else { return nil }
        return date(
            year: numbers[0], month: numbers[1], day: numbers[2], hour: numbers[3], minute: numbers[4],
            second: numbers[5], in: zone)
    }
}

/// MIME types by file extension, for files whose type affects how messages are displayed.
enum FileType {
    static func type(of name: String) -> String {
        switch name.split(separator: ".").last?.lowercased() {
        case "jpg", "jpeg": "image/jpeg"
        case "png": "image/png"
        case "gif": "image/gif"
        case "webp": "image/webp"
        case "mp4": "video/mp4"
        case "webm": "video/webm"
        case "mov": "video/quicktime"
        case "ogg", "oga", "opus": "audio/ogg"
        case "mp3": "audio/mpeg"
        case "m4a": "audio/mp4"
        case "wav": "audio/wav"
        case "pdf": "application/pdf"
        case "txt": "text/plain"
        default: "application/octet-stream"
        }
    }
}
