import ChatCore
import ChatStore
import Composer
import Foundation

/// Determines, from the bytes of an intact store and of its damaged copy, which drafts and requests must not be lost:
/// those whose pages are unchanged.
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
            // A log that does not exist has nothing that must not be lost.
            files[name] = try? Data(contentsOf: intact.appendingPathComponent(name))
        }
        self.files = files
    }

    /// Returns the drafts that must be found, by number.
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

    /// Whether all pages that contain the row are unchanged, including old versions and free space: only SQLite could
    /// tell which of them is current.
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

    /// Returns the range of the page around an offset. In the log it includes the frame and the whole frame before it,
    /// because checksums are cumulative.
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
        // `nil` if the damage removed the file: none of its pages is intact then.
        try? Data(contentsOf: damaged.appendingPathComponent(file), options: .alwaysMapped)
    }
}
