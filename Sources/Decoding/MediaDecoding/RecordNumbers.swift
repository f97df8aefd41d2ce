/// The binary form of records: five little-endian 32-bit integers, the first of which is a tag.
enum RecordNumbers {
    enum Tag: UInt32 {
        case image = 0x3144_4C50
        case video = 0x3146_4C50
    }

    static func bytes(_ tag: Tag, _ numbers: Int...) -> [UInt8] {
        ([Int(tag.rawValue)] + numbers).flatMap { number -> [UInt8] in
            let number = UInt32(truncatingIfNeeded: number)
            return [0, 8, 16, 24].map { (shift: UInt32) -> UInt8 in UInt8(truncatingIfNeeded: number >> shift) }
        }
    }

    /// - Returns: The values after the tag, or `nil` for a different tag.
    static func read(_ bytes: some Collection<UInt8>, _ tag: Tag) -> [Int]? {
        guard bytes.count == ImageRecord.length else { return nil }
        var numbers = [UInt32](repeating: 0, count: 5)
        for (index, byte) in bytes.enumerated() { numbers[index / 4] |= UInt32(byte) << UInt32(index % 4 * 8) }
        return numbers[0] == tag.rawValue ? numbers.dropFirst().map { Int($0) } : nil
    }
}
