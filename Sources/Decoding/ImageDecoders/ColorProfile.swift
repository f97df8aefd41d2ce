import CLcms

/// Converts colors from an image's ICC profile to sRGB.
enum ColorProfile {
    /// CMYK polarity. Without a profile each ink multiplies the light, as there is no standard CMYK color space.
    enum Inks {
        /// 255 is full ink.
        case usual
        /// 0 is full ink, as Adobe's programs write it.
        case inverted
    }

    private static let maxBytes = 4 << 20

    /// Converts RGBA pixels to sRGB in place. An invalid profile is ignored.
    static func convert(_ pixels: PixelMemory, by profile: UnsafeRawBufferPointer?) {
        guard let profile, let start = profile.baseAddress, profile.count <= maxBytes else { return }
        _ = shim_to_srgb(start, UInt32(profile.count), shim_pixels_rgba, pixels.bytes, pixels.count)
    }

    /// Converts CMYK pixels to sRGB in place, with a simple formula if there is no valid profile.
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
