import CLcms

/// What colours the numbers of a picture mean, where it says so (an ICC profile).
enum ColorProfile {
    /// Inks, of which no numbers are agreed on: without a profile each takes away its part of the light.
    enum Inks {
        /// 255 is all of an ink.
        case usual
        /// 0 is, as Adobe's programs write it.
        case inverted
    }

    private static let maxBytes = 4 << 20

    /// Makes sRGB of pixels in their place. A profile that makes no sense is passed over.
    static func convert(_ pixels: PixelMemory, by profile: UnsafeRawBufferPointer?) {
        guard let profile, let start = profile.baseAddress, profile.count <= maxBytes else { return }
        _ = shim_to_srgb(start, UInt32(profile.count), shim_pixels_rgba, pixels.bytes, pixels.count)
    }

    /// The same of four inks.
    static func convert(_ pixels: PixelMemory, of inks: Inks, by profile: UnsafeRawBufferPointer?) {
        let bytes = pixels.bytes
        var isConverted = false
        if let profile, let start = profile.baseAddress, profile.count <= maxBytes {
            let kind = inks == .inverted ? shim_pixels_inverted_cmyk : shim_pixels_cmyk
            isConverted = shim_to_srgb(start, UInt32(profile.count), kind, bytes, pixels.count) == 0
        }
        for offset in stride(from: 0, to: pixels.count * 4, by: 4) {
            if !isConverted {
                let mask: UInt8 = inks == .inverted ? 0 : 255
                let black = UInt32(bytes[offset + 3] ^ mask)
                for channel in 0..<3 {
                    bytes[offset + channel] = UInt8((UInt32(bytes[offset + channel] ^ mask) * black + 127) / 255)
                }
            }
            bytes[offset + 3] = 255
        }
    }
}
