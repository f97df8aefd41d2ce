import ChatCore
import Foundation
import GRDB

/// Finds references to URIs that consist of a scheme and hexadecimal digits.
struct MediaReferenceScan {
    let scheme: String

    /// Returns the references in messages. Scans all attachments.
    func inMessages(_ db: Database) throws -> Set<String> {
        try String.fetchSet(
            db,
            sql: """
                SELECT uri FROM attachment WHERE substr(uri, 1, ?1) = ?2
                UNION SELECT thumbnail FROM attachment WHERE substr(thumbnail, 1, ?1) = ?2
                """, arguments: [scheme.count, scheme])
    }

    /// Returns the references in drafts and the outbox.
    func inPending(_ db: Database) throws -> Set<String> {
        var found: Set<String> = []
        // The encoded drafts and actions are opaque here, but contain URIs verbatim.
        for sql in ["SELECT data FROM draft", "SELECT action FROM outbox"] {
            let rows = try Data.fetchCursor(db, sql: sql)
            while let data = try rows.next() { found.formUnion(references(in: data)) }
        }
        // Requests of earlier versions do not: decode them.
        for case .send(let message) in try OutboxTable(db: db).requests.map(\.action) {
            let uris = message.files.flatMap { [$0.uri, $0.thumbnailURI].compactMap(\.self) }
            found.formUnion(uris.filter { $0.hasPrefix(scheme) })
        }
        return found
    }

    private func references(in data: Data) -> [String] {
        let text = String(decoding: data, as: UTF8.self)
        return text.ranges(of: scheme).map { range in
            scheme + text[range.upperBound...].prefix { $0.isHexDigit && $0.isASCII }
        }
    }
}

extension ChatStore {
    /// Returns all references in messages, drafts and the outbox to URIs that consist of a scheme and hexadecimal
    /// digits. For occasional use in the background.
    public func mediaReferences(scheme: String) async throws -> Set<String> {
        let scan = MediaReferenceScan(scheme: scheme)
        // Read what is unsent before the messages: if a draft is sent in between, its files are among those of the
        // messages.
        let pending = try await readPending(scan.inPending)
        return try await read(scan.inMessages).union(pending)
    }
}
