import Foundation

/// The SHA-256 of a content, as 64 hexadecimal digits.
struct MediaDigest: Hashable {
    let hex: String

    init(of data: Data) {
        let digest = ContentDigest()
        data.withUnsafeBytes { digest.update($0) }
        hex = digest.finish()
    }

    /// - Returns: nil if the text is no digest, whoever wrote it.
    init?(hex: String) {
        guard hex.utf8.count == 64, hex.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.hex = hex
    }
}
