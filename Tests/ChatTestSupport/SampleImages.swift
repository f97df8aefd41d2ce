import Foundation

/// Small valid images of each format, assembled byte by byte.
public enum SampleImages {
    /// A vertical gradient of 16 × 8 pixels.
    public static let jpeg =
        Data(
            base64Encoded: """
                /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1x\
                eXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAAR\
                CAAIABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAWEAEBAQAAAAAAAAAAAAAAAAAAFGH/xAAVAQEBAAAAAAAAAAAAAAAA\
                AAAEBv/EABgRAAMBAQAAAAAAAAAAAAAAAAAEFVFS/9oADAMBAAIRAxEAPwCZq0q0FLLW5FUWNP/Z
                """
        ).map(Array.init) ?? []
    /// With EXIF orientation 6: displayed as 8 × 16.
    public static let turnedJPEG =
        Array(jpeg.prefix(2)) + [0xFF, 0xE1, 0, 34] + Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1]
        + [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0] + jpeg.dropFirst(2)

    /// One red pixel of lossy WebP (`VP8 ` chunk), without the RIFF container.
    public static let webpImage = Array(Data(base64Encoded: "VlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA") ?? Data())
    public static let webp = riff(webpImage)

    /// - Parameter frames: the number of frames, each of one pixel and shown for 50 ms.
    public static func movingWebP(frames: Int, width: Int = 1, height: Int = 1) -> [UInt8] {
        let canvas = littleEndian(width - 1, 3) + littleEndian(height - 1, 3)
        let frame =
            littleEndian(0, 3) + littleEndian(0, 3) + littleEndian(0, 3) + littleEndian(0, 3) + littleEndian(50, 3) + [
                0
            ] + webpImage
        var body = chunk("VP8X", [2, 0, 0, 0] + canvas) + chunk("ANIM", [0, 0, 0, 0, 0, 0])
        for _ in 0..<frames { body += chunk("ANMF", frame) }
        return riff(body)
    }

    public static func riff(_ body: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + littleEndian(body.count + 4, 4) + Array("WEBP".utf8) + body
    }

    public static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
        Array(name.utf8) + littleEndian(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
    }

    // MARK: PNG

    /// Returns a grayscale PNG; long runs compress many pixels into a few bytes.
    public static func png(width: Int, height: Int, shade: UInt8 = 0, claims: (Int, Int)? = nil) -> [UInt8] {
        let (shownWidth, shownHeight) = claims ?? (width, height)
        return pngSignature + pngHeader(shownWidth, shownHeight, depth: 8, color: 0)
            + pngChunk("IDAT", deflated(runOf: shade, count: (width + 1) * height)) + pngChunk("IEND", [])
    }

    public static let pngSignature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    public static func pngHeader(_ width: Int, _ height: Int, depth: UInt8, color: UInt8) -> [UInt8] {
        pngChunk("IHDR", big(width, 4) + big(height, 4) + [depth, color, 0, 0, 0])
    }

    public static func pngChunk(_ name: String, _ body: [UInt8], length: Int? = nil) -> [UInt8] {
        let content = Array(name.utf8) + body
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in content {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return big(length ?? body.count, 4) + content + big(Int(~crc), 4)
    }

    /// Returns a zlib stream that repeats one byte: a literal, then copies of 258 bytes at distance 1.
    ///
    /// `byte` is also the filter type of every scanline, so it must be 0 to 4.
    public static func deflated(runOf byte: UInt8, count: Int) -> [UInt8] {
        var (bits, held, bytes): (UInt32, Int, [UInt8]) = (0, 0, [0x78, 0x01])
        func put(_ value: UInt32, _ length: Int, reversed: Bool = false) {
            let value = reversed ? (0..<length).reduce(UInt32(0)) { $0 << 1 | value >> UInt32($1) & 1 } : value
            bits |= value << UInt32(held)
            held += length
            while held >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                held -= 8
            }
        }
        put(1, 1)
        put(1, 2)
        func literal() { put(0x30 + UInt32(byte), 8, reversed: true) }
        literal()
        var left = count - 1
        while left >= 258 {
            put(0xC5, 8, reversed: true)
            put(0, 5)
            left -= 258
        }
        for _ in 0..<left { literal() }
        put(0, 7)
        put(0, (8 - held) % 8)
        var (a, b): (Int, Int) = (1, 0)
        for _ in 0..<count {
            a = (a + Int(byte)) % 65521
            b = (b + a) % 65521
        }
        return bytes + big(b << 16 | a, 4)
    }

    // MARK: GIF, BMP, TIFF

    /// Returns an animated GIF with frames alternating between black and white, each shown for 100 ms.
    public static func gif(frames: Int, width: Int = 4, height: Int = 4, frameSide: Int = 4) -> [UInt8] {
        var bytes =
            Array("GIF89a".utf8) + littleEndian(width, 2) + littleEndian(height, 2) + [
                0x80, 0, 0, 0, 0, 0, 255, 255, 255,
            ]
        bytes += [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1, 0, 0, 0]
        for index in 0..<frames {
            bytes += [0x21, 0xF9, 4, 0, 10, 0, 0, 0]
            bytes += [0x2C, 0, 0, 0, 0] + littleEndian(frameSide, 2) + littleEndian(frameSide, 2) + [0]
            bytes += gifPixels(color: index % 2, count: min(frameSide * frameSide, 4096))
        }
        return bytes + [0x3B]
    }

    /// LZW codes of three bits, with a clear code before the code size grows.
    private static func gifPixels(color: Int, count: Int) -> [UInt8] {
        var codes = [4]
        for index in 0..<count {
            if index > 0, index % 2 == 0 { codes.append(4) }
            codes.append(color)
        }
        codes.append(5)
        var (bits, held, data): (Int, Int, [UInt8]) = (0, 0, [])
        for code in codes {
            bits |= code << held
            held += 3
            while held >= 8 {
                data.append(UInt8(truncatingIfNeeded: bits))
                bits >>= 8
                held -= 8
            }
        }
        if held > 0 { data.append(UInt8(truncatingIfNeeded: bits)) }
        var bytes: [UInt8] = [2]
        for start in stride(from: 0, to: data.count, by: 255) {
            let block = data[start..<min(start + 255, data.count)]
            bytes += [UInt8(block.count)] + block
        }
        return bytes + [0]
    }

    /// Two pixels side by side: red, green.
    public static let bmp = bmp(width: 2, height: 1, pixels: [0, 0, 255, 0, 255, 0, 0, 0])

    public static func bmp(width: Int, height: Int, pixels: [UInt8], bits: Int = 24, compression: Int = 0) -> [UInt8] {
        Array("BM".utf8) + littleEndian(54 + pixels.count, 4) + littleEndian(0, 4) + littleEndian(54, 4)
            + littleEndian(40, 4)
            + littleEndian(width, 4) + littleEndian(height, 4) + littleEndian(1, 2) + littleEndian(bits, 2)
            + littleEndian(compression, 4)
            + littleEndian(pixels.count, 4) + littleEndian(2835, 4) + littleEndian(2835, 4) + littleEndian(0, 4)
            + littleEndian(0, 4) + pixels
    }

    public static let tiff = tiff([
        (256, 4, 2), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 122), (277, 3, 1), (278, 4, 1),
        (279, 4, 2),
    ])

    /// - Parameter entries: tag, type, and value of each IFD entry.
    public static func tiff(_ entries: [(Int, Int, Int)], next: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0] + littleEndian(entries.count, 2)
        for (tag, type, value) in entries {
            bytes += littleEndian(tag, 2) + littleEndian(type, 2) + littleEndian(1, 4) + littleEndian(value, 4)
        }
        return bytes + littleEndian(next, 4) + [0, 255]
    }

    public static func littleEndian(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    public static func big(_ number: Int, _ count: Int) -> [UInt8] { littleEndian(number, count).reversed() }
}
