import Foundation
import ToolSupport

/// A random damage to a store's files.
struct Damage: CustomStringConvertible {
    enum Kind: CaseIterable {
        case bits, cut, zeros, garbage, header, missing
    }

    let kind: Kind
    let file: String
    /// The position as a fraction of the file's size.
    let position: Double
    let seed: UInt64

    private static let files = [
        "chat.sqlite", "chat.sqlite", "chat.sqlite-wal", "chat.sqlite-shm", "unsent.sqlite", "unsent.sqlite",
        "unsent.sqlite-wal", "unsent.sqlite-wal", "unsent.sqlite-shm", "chat.lock",
    ]

    var description: String { "\(kind) in \(file) at \(position)" }

    static func random(using random: inout SeededGenerator) -> Damage {
        Damage(
            kind: Kind.allCases.randomElement(using: &random) ?? .bits,
            file: files.randomElement(using: &random) ?? files[0], position: Double.random(in: 0..<1, using: &random),
            seed: random.next())
    }

    /// Damages a file, or the database if there is no log, which is so after a clean shutdown.
    func apply(to folder: URL) throws {
        var url = folder.appendingPathComponent(file)
        if !FileManager.default.fileExists(atPath: url.path) {
            url = folder.appendingPathComponent(file.hasPrefix("chat") ? "chat.sqlite" : "unsent.sqlite")
        }
        guard kind != .missing else { return try FileManager.default.removeItem(at: url) }
        var data = try Data(contentsOf: url)
        guard !data.isEmpty else { return }
        var random = SeededGenerator(seed: seed)
        let start = Int(position * Double(data.count))
        let range = start..<min(start + Int.random(in: 1...4096, using: &random), data.count)
        switch kind {
        case .bits:
            for _ in 1...Int.random(in: 1...32, using: &random) {
                let offset = Int.random(in: 0..<data.count, using: &random)
                data[offset] ^= 1 << UInt8.random(in: 0...7, using: &random)
            }
        case .cut: data = data.prefix(start)
        case .zeros: data.replaceSubrange(range, with: Data(count: range.count))
        case .garbage:
            for offset in range { data[offset] = UInt8.random(in: 0...255, using: &random) }
        case .header:
            for _ in 1...4 {
                data[Int.random(in: 0..<min(100, data.count), using: &random)] = .random(in: 0...255, using: &random)
            }
        case .missing: break
        }
        try data.write(to: url)
    }
}
