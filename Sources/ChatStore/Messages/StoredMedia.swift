import ChatCore
import Foundation
import GRDB

/// The stored kind and attachments of a message version.
struct StoredMedia {
    /// The code of the kind; `nil` keeps the current one.
    var kind: Int64?
    /// The attachments as JSON; `nil` keeps the current ones.
    var files: String?

    init(_ contents: MessageMedia?) {
        guard let contents, contents.kind != .event else { return }
        kind = contents.kind.code
        files = contents.storedFiles
    }

    /// Reads a row of the table `revision`.
    init(_ row: Row) throws {
        kind = try row.optional("kind")
        files = try row.optional("files")
    }

    /// Reads the current contents of a message.
    init(now key: Int64, in db: Database) throws {
        kind = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT kind FROM message WHERE key = ?"), arguments: [key])
        files = MessageMedia(kind: .text, attachments: try MessageQuery.attachments(of: key, in: db)).storedFiles
    }

    /// Applies the kind and the attachments to a message.
    func show(of key: Int64, in db: Database) throws {
        guard let contents = MessageMedia(kind: kind, files: files) else { return }
        try db.cachedStatement(sql: "UPDATE message SET kind = ? WHERE key = ?").execute(arguments: [kind, key])
        guard try contents.attachments != MessageQuery.attachments(of: key, in: db) else { return }
        try db.execute(sql: "DELETE FROM attachment WHERE message = ?", arguments: [key])
        try MessageWriter.insert(contents.attachments, of: key, in: db)
    }
}

extension MessageMedia {
    /// Returns `nil` unless both parts are stored and readable: the message then keeps the contents that it has.
    init?(kind: Int64?, files: String?) {
        guard let kind = kind.flatMap(Message.Kind.init(code:)), let files,
            let attachments = try? JSONDecoder().decode([MediaReference].self, from: Data(files.utf8))
        else { return nil }
        self.init(kind: kind, attachments: attachments)
    }

    /// The attachments as JSON. Encoding fails only for a duration or size that is no number, which these are not.
    var storedFiles: String? {
        (try? JSONEncoder().encode(attachments)).map { String(decoding: $0, as: UTF8.self) }
    }
}
