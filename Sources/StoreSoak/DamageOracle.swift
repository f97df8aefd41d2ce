import ChatCore
import ChatStore
import Composer
import Foundation

/// Knows from the bytes of an intact store, and of its damaged copy, what must not be lost: the drafts and the requests
/// whose pages are as they were.
struct DamageOracle {
    private struct PageRange {
        let file: String
        let range: Range<Int>
    }

    private static let pageSize = 4096
    private let files: [String: Data]

    init(intact: URL) {
        var files: [String: Data] = [:]
        for name in ["unsent.sqlite", "unsent.sqlite-wal"] {
            files[name] = try? Data(contentsOf: intact.appendingPathComponent(name))
        }
        self.files = files
    }

    /// The numbers of the drafts that must be found, each with its text.
    func drafts(in damaged: URL) -> [Int: SavedDraft] {
        var found: [Int: SavedDraft] = [:]
        for number in DamageFixture.draftRooms.indices {
            let draft = DamageFixture.draft(number, version: number % 2 == 0 ? 2 : 1)
            if isIntact(draft.data, in: damaged) { found[number] = draft }
        }
        return found
    }

    func requests(in damaged: URL) -> [OutboxRequest] {
        (20..<60).map(DamageFixture.request).filter { request in
            guard case .send(let message) = request.action else { return false }
            return isIntact(Data(message.text.source.utf8), in: damaged)
        }
    }

    /// Whether each page that holds the row is as it was, be it the row itself, an older version of its page or bytes that
    /// a page has left over: which of them counts only SQLite could say.
    private func isIntact(_ content: Data, in damaged: URL) -> Bool {
        var pageRanges: [PageRange] = []
        for (file, bytes) in files {
            var start = bytes.startIndex
            while let found = bytes.range(of: content, in: start..<bytes.endIndex) {
                pageRanges.append(pageRange(of: found.lowerBound, in: file))
                start = found.upperBound
            }
        }
        return !pageRanges.isEmpty
            && pageRanges.allSatisfy { pageRange in
                guard let before = files[pageRange.file], let after = after(pageRange.file, in: damaged) else {
                    return false
                }
                return after.count >= pageRange.range.upperBound && before[pageRange.range] == after[pageRange.range]
            }
    }

    /// The page around an offset. In the log its frame counts in, and the one before with the checksum from which it is
    /// verified, as a whole, so that nothing depends on where in it the checksum is.
    private func pageRange(of offset: Int, in file: String) -> PageRange {
        guard file.hasSuffix("-wal") else {
            let start = offset / Self.pageSize * Self.pageSize
            return PageRange(file: file, range: start..<start + Self.pageSize)
        }
        let length = Self.pageSize + 24
        let frame = (offset - 32) / length
        let start = 32 + frame * length
        return PageRange(file: file, range: (frame == 0 ? 0 : start - length)..<start + length)
    }

    private func after(_ file: String, in damaged: URL) -> Data? {
        try? Data(contentsOf: damaged.appendingPathComponent(file), options: .alwaysMapped)
    }
}
