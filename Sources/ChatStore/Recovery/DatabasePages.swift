import Foundation

/// Reads the pages of a database that may be damaged anywhere, each in its newest intact version.
///
/// Parses the files (https://www.sqlite.org/fileformat2.html) directly, since SQLite gives up on a whole table if
/// one of its interior pages is damaged.
struct DatabasePages {
    private let file: Data
    private let log: Data
    private let pageSize: Int
    /// The offset of the newest version of each page in the log.
    private let inLog: [Int: Int]

    /// The number of pages, from the file size and the log.
    let count: Int

    init(_ database: DatabaseFile) {
        file = Self.map(database.path)
        log = Self.map(database.log)
        let frames = log.withUnsafeBytes { WriteAheadLog($0) }
        let header = file.count >= 18 ? Int(file[16]) << 8 | Int(file[17]) : 0
        // All stores use the same page size: any other value in the header is damage.
        let isCommon = header == WriteAheadLog.commonPageSize || log.isEmpty
        pageSize = isCommon || frames.frames.isEmpty ? WriteAheadLog.commonPageSize : frames.pageSize
        let lastCommit = frames.frames.lastIndex(where: \.isCommit) ?? -1
        var inLog: [Int: Int] = [:]
        for frame in frames.frames.prefix(lastCommit + 1) { inLog[frame.page] = frame.content.lowerBound }
        self.inLog = inLog
        count = max(file.count / pageSize, inLog.keys.max() ?? 0)
    }

    /// Calls the body for each row on intact leaf pages. Pages of the log come first: among rows with the same key
    /// these are newer.
    func forEachRow(_ body: (LooseRow) throws -> Void) rethrows {
        let late = inLog.keys.sorted()
        for number in late { try rows(on: number, body) }
        for number in 1...max(count, 1) where inLog[number] == nil { try rows(on: number, body) }
    }

    private func rows(on number: Int, _ body: (LooseRow) throws -> Void) rethrows {
        guard let page = page(number), page.count == pageSize else { return }
        let start = number == 1 ? 100 : 0
        guard page[start] == 0x0D else { return }
        let cells = page.short(start + 3)
        guard cells > 0, start + 8 + 2 * cells <= pageSize else { return }
        for cell in 0..<cells {
            if let row = row(at: page.short(start + 8 + 2 * cell), on: page) { try body(row) }
        }
    }

    /// Decodes a table leaf cell: payload length, row ID and payload, which may continue on overflow pages.
    private func row(at offset: Int, on page: PageBytes) -> LooseRow? {
        var offset = offset
        guard let length = page.varint(&offset), let key = page.varint(&offset), length > 0, length <= Self.maxLength
        else { return nil }
        let total = Int(length)
        let local = localLength(total)
        guard offset + local <= pageSize else { return nil }
        var content = page[offset..<offset + local]
        if local < total {
            guard var next = page.word(offset + local) else { return nil }
            while content.count < total {
                guard next > 0, let rest = self.page(next), let after = rest.word(0) else { return nil }
                content += rest[4..<4 + min(total - content.count, pageSize - 4)]
                next = after
            }
        }
        return LooseRow(key: key, record: content)
    }

    /// The number of payload bytes on the leaf page itself.
    private func localLength(_ total: Int) -> Int {
        let maxLocal = pageSize - 35
        guard total > maxLocal else { return total }
        let minLocal = (pageSize - 12) * 32 / 255 - 23
        let fitting = minLocal + (total - minLocal) % (pageSize - 4)
        return fitting <= maxLocal ? fitting : minLocal
    }

    private func page(_ number: Int) -> PageBytes? {
        if let start = inLog[number] { return PageBytes(log[start..<start + pageSize]) }
        let start = (number - 1) * pageSize
        guard number > 0, start + pageSize <= file.count else { return nil }
        return PageBytes(file[start..<start + pageSize])
    }

    /// Maps a file. A database or log that cannot be read has no pages to recover.
    private static func map(_ path: String) -> Data {
        (try? Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)) ?? Data()
    }

    /// The maximum size of a row in bytes: larger than any message.
    private static let maxLength: Int64 = 64 << 20
}

/// The bytes of one page, with bounds-checked reads.
struct PageBytes {
    private let bytes: [UInt8]

    init(_ data: Data) { bytes = [UInt8](data) }
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int { bytes.count }

    subscript(offset: Int) -> UInt8 { bytes[offset] }
    subscript(range: Range<Int>) -> [UInt8] { Array(bytes[range]) }

    /// Returns a big-endian 16-bit integer, or 0 outside the page.
    func short(_ offset: Int) -> Int {
        offset >= 0 && offset + 2 <= count ? Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) : 0
    }

    /// Returns a big-endian 32-bit integer, or `nil` outside the page.
    func word(_ offset: Int) -> Int? {
        guard offset >= 0, offset + 4 <= count else { return nil }
        return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Decodes a variable-length integer of one to nine bytes, advancing `offset`.
    func varint(_ offset: inout Int) -> Int64? {
        var value: UInt64 = 0
        for number in 0..<9 {
            guard offset >= 0, offset < count else { return nil }
            let byte = bytes[offset]
            offset += 1
            if number == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
