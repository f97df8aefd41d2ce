import ChatCore
import Foundation
import GRDB

extension ChatStore {
    /// What messages, drafts and what waits to be sent refer to, of all URIs of one scheme whose rest is hexadecimal.
    ///
    /// Takes a look at each attachment: for sweeping, seldom and in the background.
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
                // Drafts and actions are opaque here, but what they refer to stands in them as it is.
                for sql in ["SELECT data FROM draft", "SELECT action FROM outbox"] {
                    let rows = try Data.fetchCursor(db, sql: sql)
                    while let data = try rows.next() { found.formUnion(Self.references(in: data, scheme)) }
                }
                // In those of earlier versions they don't.
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
