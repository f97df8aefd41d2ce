import CStore
import Foundation

/// The SHA-256 of a content, as 64 hexadecimal digits.
struct MediaDigest: Hashable {
    let hex: String

    init(of data: Data) {
        let checksum = parlance_checksum_new(Int32(parlance_checksum_sha256))
        defer { parlance_checksum_free(checksum) }
        data.withUnsafeBytes { bytes in
            parlance_checksum_update(
                checksum, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        }
        hex = String(cString: parlance_checksum_get_string(checksum))
    }

    /// - Returns: nil if the text is no digest, whoever wrote it.
    init?(hex: String) {
        guard hex.utf8.count == 64, hex.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.hex = hex
    }
}
