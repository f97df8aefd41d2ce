public import Foundation

/// The image that the guide sends at the first start.
public struct GuideImage: Equatable, Sendable {
    let png: Data
    let width: Int
    let height: Int

    /// - Returns: `nil` unless the data begins as a PNG file does.
    public init?(png: Data) {
        // The signature, then the header's length and name, its width and its height.
        let bytes = [UInt8](png.prefix(24))
        guard bytes.count == 24, bytes.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return nil }
        func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        self.png = png
        width = number(at: 16)
        height = number(at: 20)
    }
}
