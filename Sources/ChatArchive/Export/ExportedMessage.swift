import ChatCore
import Foundation

/// A message with all that an export tells of it.
struct ExportedMessage {
    /// A file of a message, and where it lies in the export.
    struct File {
        var media: MediaReference
        /// Relative to the export, with slashes; nil if it is not there.
        var path: String?
    }

    var message: Message
    var senderName: String
    var isOwn: Bool
    /// As it is said, in the order of ``Message/reactions``.
    var reactions: [(text: String, names: [String])]
    var files: [File]
    /// What it said before, oldest first.
    var revisions: [MessageRevision] = []
    /// What happened, in words, of a message that stands for that.
    var happened: String?

    /// Whether a text that has no other form is Markdown: what was typed here, or brought in, before it had one. What
    /// others say over a server is plain text then.
    var isMarkdown: Bool { !message.sender.rawValue.hasPrefix("@") || message.transactionID != nil }
}

/// What is told of a room before its messages.
struct ExportedRoom {
    var id: RoomID
    var name: String
    var members: [Member]
    var exportedAt: Date
    /// For people to read.
    var zone: TimeZone
}

/// Writes a room in one of the formats.
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

/// Times in exports: the same in each language, as dates of ISO 8601.
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
    /// With the day, the time and the zone.
    func full(_ date: Date) -> String { date.formatted(style) }
}
