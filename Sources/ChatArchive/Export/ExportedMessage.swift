import ChatCore
import Foundation

/// A message with all data that an export contains.
struct ExportedMessage {
    /// A file of a message and its path in the export.
    struct File {
        var media: MediaReference
        /// The path relative to the export, with slashes; `nil` if the file is missing.
        var path: String?
    }

    var message: Message
    var senderName: String
    var isOwn: Bool
    /// Texts and sender names, in the order of ``Message/reactions``.
    var reactions: [(text: String, names: [String])]
    var files: [File]
    /// Earlier versions, oldest first.
    var revisions: [MessageRevision] = []
    /// The sentence for a room event, or `nil` for an ordinary message.
    var happened: String?

    /// The text that represents a message without text; `nil` for others.
    var placeholder: String? {
        if message.isDeleted { return "Message deleted" }
        return message.kind == .sealed ? (message.seal ?? .damaged).sentence : nil
    }

    /// Says that this is not the latest version of the message.
    var outdated: String? { message.unreadableEdit.map { "A later edit is missing. \($0.sentence)" } }

    /// Whether a text without HTML is Markdown, as for messages typed here or imported. Messages of other Matrix users
    /// are plain text then.
    var isMarkdown: Bool { !message.sender.rawValue.hasPrefix("@") || message.transactionID != nil }
}

/// The room data at the start of an export.
struct ExportedRoom {
    var id: RoomID
    var name: String
    var members: [Member]
    var exportedAt: Date
    /// The time zone of displayed times.
    var zone: TimeZone
    /// Whether the room is encrypted, or may be.
    var isEncrypted = false

    /// The warning at the top of the file; exports are not translated.
    var warning: String? {
        isEncrypted ? "This room is encrypted, but this file is not: anyone who can open it can read it." : nil
    }
}

/// Writes a room in one of the export formats.
protocol ExportWriter {
    func header(of room: ExportedRoom) throws -> String
    mutating func text(of message: ExportedMessage) throws -> String
    func ending() throws -> String
}

extension ExportFormat {
    func writer(zone: TimeZone) -> any ExportWriter {
        switch self {
        case .html: HTMLExport(times: ExportTimes(zone: zone))
        case .markdown: MarkdownExport(times: ExportTimes(zone: zone))
        case .json: JSONExport()
        }
    }
}

/// Formats times in exports as ISO 8601, independently of the locale.
struct ExportTimes {
    private let style: Date.ISO8601FormatStyle

    init(zone: TimeZone) {
        style = Date.ISO8601FormatStyle(timeZone: zone)
    }

    /// `2024-05-31`.
    func day(_ date: Date) -> String { String(date.formatted(style.year().month().day())) }
    /// `23:59`.
    func time(_ date: Date) -> String {
        String(date.formatted(style.time(includingFractionalSeconds: false)).prefix(5))
    }
    /// Date, time and time zone.
    func full(_ date: Date) -> String { date.formatted(style) }
}
