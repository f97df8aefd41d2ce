import ChatCore
import Foundation
import GRDB

/// Finds one page of a search.
struct SearchPass {
    /// The maximum number of messages examined for a page.
    static let maxCandidates = 20_000

    private let query: SearchQuery
    private let rooms: Set<Int64>?
    private let senders: Set<Int64>?
    private let terms: SearchTerms
    /// The words of a search for words that the index has only in parts and that match where a word begins.
    private let spacedWords: SearchTerms
    /// Those of scripts without spaces between words.
    private let otherWords: SearchTerms
    private let needle: String
    /// The keys of staged rooms, which are excluded.
    private var staged: Set<Int64> = []
    /// The keys of ignored users, whose messages are excluded.
    private var ignored: Set<Int64> = []

    /// Prepares a search.
    /// - Parameters:
    ///   - rooms: The keys of ``SearchQuery/rooms``.
    ///   - senders: The keys of ``SearchQuery/senders``.
    init(query: SearchQuery, rooms: Set<Int64>?, senders: Set<Int64>?) {
        self.query = query
        self.rooms = rooms
        self.senders = senders
        terms = query.matching == .terms ? SearchTerms(query.text) : SearchTerms(terms: [])
        let words = query.matching == .words ? IndexedWord.wordsWithMarks(in: query.text) : []
        spacedWords = SearchTerms(terms: words.filter(Self.isSpaced))
        otherWords = SearchTerms(terms: words.filter { !Self.isSpaced($0) })
        needle = query.text.lowercased()
    }

    /// Candidates come in order of arrival, which is nearly chronological. The search ends when no remaining candidate
    /// can be later than the results.
    mutating func run(in db: Database) throws -> SearchPage {
        staged = try StagedRooms(db: db).keys
        ignored = try IgnoredUserTable(db: db).keys
        let limit = min(max(query.limit, 0), 1000)
        let expressions = SearchExpression.all(for: query, terms: terms, rooms: rooms, senders: senders)
        guard limit > 0, var candidates = try candidates(expressions, in: db) else { return .nothing }
        // Without a search text, the messages of a single room come in timeline order and are returned in it.
        let isInOrder = expressions?.isEmpty == true && rooms?.count == 1
        var latest = LatestMatches(limit: limit)
        var bounds = ArrivalBounds()
        var (seen, last) = (0, Int64.max)
        var cut: Int64?
        while let row = try candidates.next() {
            let position = SearchPosition(sentAt: try row.value("sentAt"), arrival: try row.value("arrival"))
            if isInOrder, latest.isFull {
                cut = last
                break
            }
            if let worst = latest.worst, try bounds.latest(upTo: position.arrival, in: db) <= worst.sentAt {
                latest.hasMore = true
                break
            }
            guard seen < Self.maxCandidates else {
                cut = last
                break
            }
            (seen, last) = (seen + 1, position.arrival)
            if let after = query.after?.position, position >= after { continue }
            if latest.accepts(position), try isMatch(row) { latest.insert(try row.value("key"), at: position) }
        }
        let messages = try MessageQuery.messages(latest.keys, in: db)
        // Continue with the matches that later ones displaced, starting again from the same arrival.
        let next: SearchCursor? =
            latest.hasMore
            ? SearchCursor(rawValue: query.after?.rawValue ?? .max, position: latest.last)
            : cut.map { SearchCursor(rawValue: $0) }
        return SearchPage(messages: messages, senders: try MemberTable(db: db).senders(of: messages), next: next)
    }

    // MARK: Candidates

    /// Returns `nil` if nothing can match.
    private func candidates(_ expressions: [SearchExpression]?, in db: Database) throws -> SearchCandidates? {
        let before = query.after?.rawValue ?? .max
        guard let expressions else { return nil }
        if expressions.isEmpty { return SearchCandidates([try everything(before: before, in: db)]) }
        return SearchCandidates(
            try expressions.map { expression in
                let index = expression.index.rawValue
                return try Row.fetchCursor(
                    db.cachedStatement(
                        sql: """
                            SELECT f.rowid AS arrival, \(columns) FROM \(index) f
                            CROSS JOIN message m ON m.arrival = f.rowid
                            WHERE f.\(index) MATCH ?1 AND f.rowid < ?2 ORDER BY f.rowid DESC
                            """), arguments: [expression.match, before])
            })
    }

    /// All messages of one room or of all rooms, in descending order of arrival, which within a room equals the order
    /// of keys.
    private func everything(before arrival: Int64, in db: Database) throws -> RowCursor {
        guard let room = rooms?.first, rooms?.count == 1 else {
            return try Row.fetchCursor(
                db.cachedStatement(
                    sql: """
                        SELECT m.arrival, \(columns) FROM message m WHERE m.arrival < ? ORDER BY m.arrival DESC
                        """), arguments: [arrival])
        }
        return try Row.fetchCursor(
            db.cachedStatement(
                sql: """
                    SELECT m.arrival, \(columns) FROM message m
                    WHERE m.key BETWEEN ?1 AND ?2 AND m.key < coalesce((SELECT key FROM message WHERE arrival = ?3), ?2 + 1)
                    ORDER BY m.key DESC
                    """),
            arguments: [MessageKey.all(in: room).lowerBound, MessageKey.all(in: room).upperBound, arrival])
    }

    /// The long text comes last, and the attachments only if needed: SQLite decodes a row only up to the last requested
    /// column.
    private var columns: String {
        let types = "(SELECT group_concat(type, ' ') FROM attachment WHERE message = m.key)"
        return "m.key, m.room, m.sender, m.sentAt, m.kind, m.isDeleted, m.text, "
            + (query.contents.isEmpty ? "NULL" : types) + " AS types"
    }

    // MARK: Matching

    private func isMatch(_ row: Row) throws -> Bool {
        let room: Int64 = try row.value("room")
        if let rooms, !rooms.contains(room) { return false }
        if staged.contains(room) { return false }
        let sender: Int64 = try row.value("sender")
        if let senders, !senders.contains(sender) { return false }
        if ignored.contains(sender) { return false }
        let kind: Int64 = try row.value("kind")
        if try row.flag("isDeleted") || [Message.Kind.event.code, Message.Kind.sealed.code].contains(kind) {
            return false
        }
        if query.from != nil || query.until != nil {
            let date = try row.date("sentAt")
            if let from = query.from, date < from { return false }
            if let until = query.until, date >= until { return false }
        }
        let text: String = try row.value("text")
        guard try query.contents.allSatisfy({ try has($0, row, text) }) else { return false }
        switch query.matching {
        // The word index is exact, except for words that it has in parts; trigram matches need verification.
        case .words: return otherWords.matches(text) && (spacedWords.isEmpty || spacedWords.matchesWordStarts(of: text))
        case .substring: return needle.isEmpty || text.lowercased().contains(needle)
        case .terms: return terms.matches(text)
        }
    }

    /// Whether a word is of scripts that separate words by spaces.
    private static func isSpaced(_ word: String) -> Bool { word.unicodeScalars.allSatisfy { $0.value < 0x0E00 } }

    private func has(_ content: SearchContent, _ row: Row, _ text: String) throws -> Bool {
        if content == .link {
            let text = text.lowercased()
            return ["https://", "http://", "www."].contains { text.contains($0) }
        }
        let kind = Message.Kind(code: try row.value("kind")) ?? .text
        let types: String = try row.optional("types") ?? ""
        switch content {
        case .link: return false
        case .file: return !types.isEmpty || [.file, .image, .audio, .video].contains(kind)
        case .image: return kind == .image || types.contains("image/")
        case .video: return kind == .video || types.contains("video/")
        case .audio: return kind == .audio || types.contains("audio/")
        }
    }
}

/// Merges several cursors into one sequence without duplicates, latest first.
struct SearchCandidates {
    private let cursors: [RowCursor]
    /// The current row of each cursor. A cursor reuses its row object, so it must not advance before its row was used.
    private var heads: [(row: Row, arrival: Int64)?] = []
    private var used: Int64?

    init(_ cursors: [RowCursor]) {
        self.cursors = cursors
    }

    mutating func next() throws -> Row? {
        if heads.isEmpty {
            heads = try cursors.map(Self.head)
        } else {
            for (number, head) in heads.enumerated() where head?.arrival == used && head != nil {
                heads[number] = try Self.head(cursors[number])
            }
        }
        let latest = heads.compactMap { $0 }.max { $0.arrival < $1.arrival }
        used = latest?.arrival
        return latest?.row
    }

    private static func head(_ cursor: RowCursor) throws -> (row: Row, arrival: Int64)? {
        guard let row = try cursor.next() else { return nil }
        return (row, try row.value("arrival"))
    }
}
