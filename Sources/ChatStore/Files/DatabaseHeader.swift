import Glibc

/// The first 100 bytes of a database (https://www.sqlite.org/fileformat2.html#the_database_header).
///
/// SQLite detects some invalid values in it only on writing.
struct DatabaseHeader {
    private let bytes: [UInt8]

    /// Returns `nil` if the file has no complete header.
    init?(of path: String) {
        guard let file = fopen(path, "rb") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 100)
        guard fread(&bytes, 1, bytes.count, file) == bytes.count else { return nil }
        self.bytes = bytes
    }

    var userVersion: Int { word(60) }

    /// Names a field with a value that no store has ever had, in the words of SQLite's documentation. Returns `nil` if
    /// the header is valid.
    /// - Parameter pages: The number of pages in the file.
    func problem(pages: Int) -> String? {
        let journal = (bytes[18], bytes[19])
        let facts: [(isSound: Bool, name: String)] = [
            (Int(bytes[16]) << 8 | Int(bytes[17]) == WriteAheadLog.commonPageSize, "page size"),
            (journal == (1, 1) || journal == (2, 2), "file format version"), (bytes[20] == 0, "reserved space"),
            (word(28) <= pages, "database size"), (word(32) <= pages && word(36) < max(pages, 1), "freelist"),
            ((0...4).contains(word(44)), "schema format"), (word(52) == 0 && word(64) == 0, "auto-vacuum"),
            (word(56) == 1, "text encoding"),
        ]
        return facts.first { !$0.isSound }.map { "the header has an invalid \($0.name)" }
    }

    private func word(_ offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
}
