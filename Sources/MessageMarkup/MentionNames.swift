public import ChatCore
import Composer

/// The names of a room's members, which are recognized after an `@`.
public struct MentionNames: Hashable, Sendable {
    private struct Entry: Hashable {
        var name: [UInt8]
        var member: String
    }

    /// By the first byte of the name, longer names first, so "@Ann Lee" is not matched as "@Ann".
    private var entries: [UInt8: [Entry]] = [:]

    public init() {}

    /// Creates names of members. Of several members with the same name the first is used.
    public init(_ members: [Member]) {
        for member in members where !member.displayName.isEmpty {
            let name = Array(member.displayName.utf8)
            entries[name[0], default: []].append(Entry(name: name, member: member.id.rawValue))
        }
        for key in entries.keys {
            entries[key]?.sort { $0.name.count > $1.name.count }
        }
    }

    /// Updates a renamed or new member, which comes last among members with the same name.
    public mutating func change(_ before: Member?, to after: Member) {
        if let name = before.map({ Array($0.displayName.utf8) }), let first = name.first {
            entries[first]?.removeAll { $0.member == after.id.rawValue && $0.name == name }
            if entries[first]?.isEmpty == true { entries[first] = nil }
        }
        let name = Array(after.displayName.utf8)
        guard let first = name.first else { return }
        var candidates = entries[first] ?? []
        let insertionIndex = candidates.firstIndex { $0.name.count < name.count } ?? candidates.count
        candidates.insert(Entry(name: name, member: after.id.rawValue), at: insertionIndex)
        entries[first] = candidates
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the mentions in a text, with ranges in UTF-8 code units.
    func mentions(in text: String) -> [(range: Range<Int>, mark: InlineAnnotator.Annotation)] {
        guard text.utf8.contains(UInt8(ascii: "@")) else { return [] }
        var text = text
        return text.withUTF8 { bytes in
            var found: [(range: Range<Int>, mark: InlineAnnotator.Annotation)] = []
            var position = 0
            while position + 1 < bytes.count {
                if bytes[position] == UInt8(ascii: "@"), position == 0 || !bytes[position - 1].isPartOfWord,
                    let entry = entry(at: position + 1, in: bytes)
                {
                    let end = position + 1 + entry.name.count
                    found.append((position..<end, .mention(.member(entry.member))))
                    position = end
                } else {
                    position += 1
                }
            }
            return found
        }
    }

    private func entry(at position: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Entry? {
        entries[bytes[position]]?.first { entry in
            let end = position + entry.name.count
            guard end <= bytes.count, end == bytes.count || !bytes[end].isPartOfWord else { return false }
            return bytes[position..<end].elementsEqual(entry.name)
        }
    }
}

extension UInt8 {
    /// Letters, digits and all non-ASCII bytes.
    fileprivate var isPartOfWord: Bool { isLetter || isDigit || self >= 0x80 }
}
