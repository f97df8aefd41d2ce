import ChatCore
import Foundation
import GRDB

extension ChatStore {
    /// Returns all references in messages, drafts and the outbox to URIs that consist of a scheme and hexadecimal
    /// digits.
    ///
    /// Scans all attachments: for occasional use in the background.
    public func mediaReferences(scheme: String) async throws -> Set<String> {
        let attachmentURIs = try await read { db in
            try String.fetchSet(
                db,
                sql: """
                    SELECT uri FROM attachment WHERE substr(uri, 1, ?1) = ?2
                    UNION SELECT thumbnail FROM attachment WHERE substr(thumbnail, 1, ?1) = ?2
                    """, arguments: [scheme.count, scheme])
        }
        return try await attachmentURIs.union(
            readPending { db in
                var found: Set<String> = []
                // The encoded drafts and actions are opaque here, but contain URIs verbatim.
                for sql in ["SELECT data FROM draft", "SELECT action FROM outbox"] {
                    let rows = try Data.fetchCursor(db, sql: sql)
                    while let data = try rows.next() { found.formUnion(Self.references(in: data, scheme)) }
                }
                // Requests of earlier versions do not: decode them.
                for case .send(let message) in try Self.requests(in: db).map(\.action) {
                    let uris = message.files.flatMap { [$0.uri, $0.thumbnailURI].compactMap(\.self) }
                    found.formUnion(uris.filter { $0.hasPrefix(scheme) })
                }
                return found
            })
    }

    private static func references(in data: Data, _ scheme: String) -> [String] {
        let text = String(decoding: data, as: UTF8.self)
        return text.ranges(of: scheme).map { range in
            scheme + text[range.upperBound...].prefix { $0.isHexDigit && $0.isASCII }
        }
    }
}
