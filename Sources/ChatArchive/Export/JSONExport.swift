import ChatCore
import Composer
import Foundation

/// Writes all data as JSON, one message per line.
struct JSONExport: ExportWriter {
    /// Identifies the format for imports.
    static let format = "parlance-room"
    static let fileName = "messages.json"

    private struct RoomRecord: Encodable {
        struct MemberRecord: Encodable {
            var id: String
            var name: String
            var kind: String
            var hasLeft: Bool
        }
        var format = JSONExport.format
        var version = 2
        var id: String
        var name: String
        var exportedAt: Date
        var members: [MemberRecord]
        var warning: String?
    }

    private struct MessageRecord: Encodable {
        struct File: Encodable {
            private enum CodingKeys: CodingKey {
                case path
            }

            var path: String?
            var media: MediaDescription

            /// Encodes the path as an additional key of the description.
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encodeIfPresent(path, forKey: .path)
                try media.encode(to: encoder)
            }
        }
        struct Revision: Encodable {
            var text: String
            var html: String?
            var written: WrittenText?
            var writtenAt: Date
        }
        struct Event: Encodable {
            var kind: String
            var subject: String?
            var name: String?
            var before: String?
            var after: String?

            init(_ event: RoomEvent) {
                kind = event.kind.rawValue
                subject = event.subject?.rawValue
                name = event.name
                before = event.before
                after = event.after
            }
        }
        struct Reaction: Encodable {
            var text: String
            var senders: [String]
        }
        var id: String
        var sender: String
        var senderName: String
        var sentAt: Date
        var kind: String
        var text: String
        var html: String?
        /// The syntax of ``text`` if there is no other form; plain text if `nil`.
        var syntax: WrittenText.Syntax?
        /// The source as typed, for messages written in this application.
        var written: WrittenText?
        var replyTo: String?
        var editedAt: Date?
        /// Earlier versions, oldest first.
        var revisions: [Revision]?
        var isDeleted: Bool?
        /// Why an encrypted message could not be read.
        var sealed: SealReason?
        /// Why a later edit could not be read.
        var unreadableEdit: SealReason?
        var files: [File]?
        var reactions: [Reaction]?
        /// Set for a room event, whose sentence is then in ``text``.
        var event: Event?
    }

    private let encoder: JSONEncoder
    private var isFirst = true

    init() {
        encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Self.text(of: date))
        }
    }

    func header(of room: ExportedRoom) throws -> String {
        try record(of: room).dropLast() + ",\"messages\":["
    }

    /// Returns the room as a JSON object.
    func record(of room: ExportedRoom) throws -> String {
        let record = RoomRecord(
            id: room.id.rawValue, name: room.name, exportedAt: room.exportedAt,
            members: room.members.map {
                RoomRecord.MemberRecord(
                    id: $0.id.rawValue, name: $0.displayName, kind: $0.kind.rawValue, hasLeft: $0.hasLeft)
            }, warning: room.warning)
        return try encoded(record)
    }

    mutating func text(of exported: ExportedMessage) throws -> String {
        defer { isFirst = false }
        return (isFirst ? "\n" : ",\n") + (try record(of: exported))
    }

    /// Returns a message as a JSON object.
    func record(of exported: ExportedMessage) throws -> String {
        let message = exported.message
        let record = MessageRecord(
            id: message.id.rawValue, sender: message.sender.rawValue, senderName: exported.senderName,
            sentAt: message.sentAt, kind: message.kind.rawValue, text: exported.happened ?? message.text,
            html: message.formattedText, syntax: exported.isMarkdown ? .markdown : nil, written: message.written,
            replyTo: message.replyTo?.rawValue, editedAt: message.editedAt,
            revisions: exported.revisions.isEmpty
                ? nil
                : exported.revisions.map {
                    MessageRecord.Revision(
                        text: $0.text, html: $0.wording.html, written: $0.wording.written, writtenAt: $0.writtenAt)
                },
            isDeleted: message.isDeleted ? true : nil, sealed: message.seal,
            unreadableEdit: message.unreadableEdit,
            files: exported.files.isEmpty
                ? nil : exported.files.map { MessageRecord.File(path: $0.path, media: $0.media.media) },
            reactions: message.reactions.isEmpty
                ? nil
                : message.reactions.map {
                    MessageRecord.Reaction(text: $0.text, senders: $0.senders.map(\.rawValue))
                }, event: message.event.map(MessageRecord.Event.init))
        return try encoded(record)
    }

    func ending() -> String { "\n]}\n" }

    /// `2024-05-31T23:59:59.123Z`, rounded to milliseconds.
    static func text(of date: Date) -> String {
        let milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded())
        let rest = milliseconds - milliseconds / 1000 * 1000
        let fraction = rest < 0 ? rest + 1000 : rest
        let whole = Date(timeIntervalSince1970: Double((milliseconds - fraction) / 1000))
        let digits = String(fraction)
        return whole.formatted(Date.ISO8601FormatStyle()).dropLast() + "."
            + String(repeating: "0", count: 3 - digits.count) + digits + "Z"
    }

    private func encoded(_ value: some Encodable) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
