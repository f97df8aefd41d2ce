import Foundation

/// A SHA-256 digest as 64 lowercase hexadecimal digits.
struct MediaDigest: Hashable {
    let hex: String

    init(of data: Data) {
        let digest = ContentDigest()
        data.withUnsafeBytes { digest.update($0) }
        hex = digest.finish()
    }

    /// Returns `nil` if the text is not a valid digest.
    init?(hex: String) {
        guard hex.utf8.count == 64, hex.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.hex = hex
    }
}
