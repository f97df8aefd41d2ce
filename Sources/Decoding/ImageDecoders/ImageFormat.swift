/// The supported image formats. SVG is deliberately excluded: it is as much a program as an image.
enum ImageFormat: Equatable {
    case png, jpeg, gif, webp, bmp, tiff
    /// AVIF and HEIC.
    case heif

    /// Detects the format by the signature; file names are not reliable.
    init?(beginning bytes: some Collection<UInt8>) {
        func hasPrefix(_ text: StaticString, at offset: Int = 0) -> Bool {
            text.withUTF8Buffer { bytes.dropFirst(offset).starts(with: $0) }
        }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if hasPrefix("GIF87a") || hasPrefix("GIF89a") {
            self = .gif
        } else if hasPrefix("RIFF"), hasPrefix("WEBP", at: 8) {
            self = .webp
        } else if hasPrefix("BM") {
            self = .bmp
        } else if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            self = .tiff
        } else if hasPrefix("ftyp", at: 4), Self.heifBrands.contains(where: { hasPrefix($0, at: 8) }) {
            self = .heif
        } else {
            return nil
        }
    }

    /// Brands of still images and of image sequences, whose first frame is shown. Videos have other brands.
    private static let heifBrands: [StaticString] = [
        "avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "mif2", "msf1",
    ]
}
