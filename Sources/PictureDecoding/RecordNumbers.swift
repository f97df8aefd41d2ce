/// The twenty bytes of a record: five little-endian numbers, the first of them a mark.
enum RecordNumbers {
    enum Mark: UInt32 {
        case picture = 0x3144_4C50
        case film = 0x3146_4C50
    }

    static func bytes(_ mark: Mark, _ numbers: Int...) -> [UInt8] {
        ([Int(mark.rawValue)] + numbers).flatMap { number -> [UInt8] in
            let number = UInt32(truncatingIfNeeded: number)
            return [0, 8, 16, 24].map { (shift: UInt32) -> UInt8 in UInt8(truncatingIfNeeded: number >> shift) }
        }
    }

    /// - Returns: the numbers after the mark; nil if it is another mark.
    static func read(_ bytes: some Collection<UInt8>, _ mark: Mark) -> [Int]? {
        guard bytes.count == PictureRecord.length else { return nil }
        var numbers = [UInt32](repeating: 0, count: 5)
        for (place, byte) in bytes.enumerated() { numbers[place / 4] |= UInt32(byte) << UInt32(place % 4 * 8) }
        return numbers[0] == mark.rawValue ? numbers.dropFirst().map { Int($0) } : nil
    }
}
