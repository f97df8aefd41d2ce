import ChatTestSupport
import Foundation

/// Malicious and damaged image files.
enum HostileImages {
    struct Sample: CustomStringConvertible, Sendable {
        var description: String
        var bytes: [UInt8]
    }

    static let all: [Sample] = claims + chunks + moving + others + heifs + foreign + cut + scrambled

    private typealias S = SampleImages

    /// Small files that claim huge dimensions.
    private static let claims: [Sample] = [
        Sample(description: "png 30,000 by 30,000", bytes: S.png(width: 10, height: 10, claims: (30_000, 30_000))),
        Sample(description: "png of 2^31-1", bytes: S.png(width: 10, height: 10, claims: (0x7FFF_FFFF, 0x7FFF_FFFF))),
        Sample(description: "png of 2^32-1", bytes: S.png(width: 10, height: 10, claims: (0xFFFF_FFFF, 1))),
        Sample(description: "png without pixels", bytes: S.png(width: 1, height: 1, claims: (0, 0))),
        Sample(description: "png of one endless line", bytes: S.png(width: 10, height: 1, claims: (39_000_000, 1))),
        Sample(description: "png of 39 million lines", bytes: S.png(width: 1, height: 10, claims: (1, 39_000_000))),
        Sample(description: "png that packs 36 million pixels", bytes: S.png(width: 6000, height: 6000)),
        Sample(description: "png that packs 100 million", bytes: S.png(width: 10_000, height: 10_000)),
        Sample(description: "png with more data than it says", bytes: S.png(width: 2000, height: 2000, claims: (1, 1))),
        Sample(description: "gif 65,535 by 65,535", bytes: S.gif(frames: 1, width: 65_535, height: 65_535)),
        Sample(description: "gif 6,000 by 6,000", bytes: S.gif(frames: 3, width: 6000, height: 6000)),
        Sample(
            description: "gif with a frame beyond it", bytes: S.gif(frames: 2, width: 1, height: 1, frameSide: 60_000)),
        Sample(description: "bmp of 2^31-1", bytes: S.bmp(width: 0x7FFF_FFFF, height: 0x7FFF_FFFF, pixels: [0, 0, 0])),
        Sample(description: "bmp 30,000 by 30,000", bytes: S.bmp(width: 30_000, height: 30_000, pixels: [0, 0, 0])),
        Sample(
            description: "bmp with negative sizes", bytes: S.bmp(width: -5, height: -2_000_000_000, pixels: [0, 0, 0])),
        Sample(
            description: "bmp with 2^31 lines upwards", bytes: S.bmp(width: 1, height: -0x8000_0000, pixels: [0, 0, 0])),
        Sample(
            description: "bmp of runs",
            bytes: S.bmp(width: 6000, height: 6000, pixels: [255, 0, 0, 1], bits: 8, compression: 1)),
        Sample(description: "bmp of unknown bits", bytes: S.bmp(width: 4, height: 4, pixels: [1], bits: 77)),
        Sample(
            description: "bmp of unknown compression", bytes: S.bmp(width: 4, height: 4, pixels: [1], compression: 99)),
        Sample(description: "webp 16,384 by 16,384", bytes: S.movingWebP(frames: 1, width: 16_384, height: 16_384)),
        Sample(description: "webp 16,777,216 wide", bytes: S.movingWebP(frames: 1, width: 16_777_216, height: 1)),
        Sample(
            description: "tiff 60,000 by 60,000",
            bytes: S.tiff([
                (256, 4, 60_000), (257, 4, 60_000), (258, 3, 8), (262, 3, 1), (273, 4, 122), (278, 4, 60_000),
                (279, 4, 2),
            ])),
        Sample(
            description: "tiff of 2^32-1", bytes: S.tiff([(256, 4, 0xFFFF_FFFF), (257, 4, 0xFFFF_FFFF), (273, 4, 8)])),
    ]

    /// PNG chunks, malformed in many ways.
    private static let chunks: [Sample] = {
        let header = S.pngHeader(4, 4, depth: 8, color: 0)
        let data = S.pngChunk("IDAT", S.deflated(runOf: 0, count: 20))
        let end = S.pngChunk("IEND", [])
        var bombs = [
            ("nothing but a header", header + end), ("no header", data + end), ("no end", header + data),
            ("two headers", header + header + data + end), ("a header at the end", data + header + end),
            ("a length of 2^32-1", S.pngChunk("IHDR", [0, 0, 0, 4], length: 0xFFFF_FFFF)),
            ("a wrong checksum", header + data.dropLast() + [0] + end),
            ("data that is not packed", header + S.pngChunk("IDAT", [1, 2, 3, 4]) + end),
            ("no palette", S.pngHeader(4, 4, depth: 8, color: 3) + data + end),
            (
                "a palette of 300",
                S.pngHeader(4, 4, depth: 8, color: 3) + S.pngChunk("PLTE", Array(repeating: 7, count: 900)) + data + end
            ),
            (
                "a profile that unpacks to 30 MB",
                header + S.pngChunk("iCCP", Array("a\0\0".utf8) + S.deflated(runOf: 0, count: 30_000_000)) + data + end
            ),
            (
                "text that unpacks to 30 MB",
                header + S.pngChunk("zTXt", Array("a\0\0".utf8) + S.deflated(runOf: 1, count: 30_000_000)) + data + end
            ),
        ]
        for depth: UInt8 in [0, 3, 16, 255] {
            bombs.append(("depth \(depth)", S.pngHeader(4, 4, depth: depth, color: 6) + data + end))
        }
        for color: UInt8 in [1, 5, 200] {
            bombs.append(("colour \(color)", S.pngHeader(4, 4, depth: 8, color: color) + data + end))
        }
        bombs.append(
            (
                "100,000 empty parts",
                header + Array(repeating: S.pngChunk("tEXt", []), count: 20_000).joined() + data + end
            ))
        return bombs.map { Sample(description: "png with \($0.0)", bytes: S.pngSignature + $0.1) }
    }()

    private static let moving: [Sample] = [
        Sample(description: "gif of 50,000 frames", bytes: S.gif(frames: 50_000)),
        Sample(
            description: "gif of 300 frames of 5,000 by 5,000",
            bytes: S.gif(frames: 300, width: 5000, height: 5000, frameSide: 5000)),
        Sample(description: "gif without frames", bytes: S.gif(frames: 0)),
        Sample(
            description: "gif with a code size of 255",
            bytes: Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 255, 1, 1, 0, 0x3B]),
        Sample(
            description: "gif without colours",
            bytes: Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0, 0x2C, 0, 0, 0, 0, 4, 0, 4, 0, 0, 2, 1, 0x84, 0, 0x3B]),
        Sample(
            description: "gif of endless comments",
            bytes: Array("GIF89a".utf8) + [4, 0, 4, 0, 0, 0, 0]
                + Array(repeating: [0x21, 0xFE, 1, 65, 0], count: 50_000).joined()),
        Sample(description: "webp of 50,000 frames", bytes: S.movingWebP(frames: 50_000)),
        Sample(
            description: "webp of 100 frames of 6,000 by 6,000",
            bytes: S.movingWebP(frames: 100, width: 6000, height: 6000)),
        Sample(description: "webp without frames", bytes: S.movingWebP(frames: 0)),
    ]

    private static let others: [Sample] = [
        Sample(description: "tiff that is its own next", bytes: S.tiff([(256, 4, 2), (257, 4, 1)], next: 8)),
        Sample(description: "tiff of 65,535 entries", bytes: [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 0xFF, 0xFF]),
        Sample(description: "tiff with a place beyond its end", bytes: [0x49, 0x49, 0x2A, 0, 0xFF, 0xFF, 0xFF, 0x7F]),
        Sample(
            description: "tiff with unknown compression",
            bytes: S.tiff([(256, 4, 2), (257, 4, 1), (259, 3, 9999), (273, 4, 122), (279, 4, 2)])),
        Sample(
            description: "tiff with strips of 2^31",
            bytes: S.tiff([
                (256, 4, 2), (257, 4, 1), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 122), (279, 4, 0x7FFF_FFFF),
            ])),
        Sample(
            description: "webp that says it is longer",
            bytes: Array("RIFF".utf8) + [255, 255, 255, 127] + Array("WEBP".utf8) + S.webpImage),
        Sample(description: "webp of an unknown kind", bytes: S.riff(S.chunk("XXXX", [1, 2, 3]))),
        Sample(description: "jpeg of nothing but its start", bytes: [0xFF, 0xD8, 0xFF]),
        Sample(description: "jpeg 65,535 by 65,535", bytes: jpeg(width: 65_535, height: 65_535)),
        Sample(description: "jpeg 6,000 by 6,000 without data", bytes: jpeg(width: 6000, height: 6000)),
        Sample(description: "jpeg of no lines", bytes: jpeg(width: 16, height: 0)),
        Sample(
            description: "jpeg of endless comments",
            bytes: Array(S.jpeg.prefix(2)) + Array(repeating: [0xFF, 0xFE, 0, 2], count: 50_000).joined()),
    ]

    /// Wrong dimensions: HEIF has them both in the container and in the coded image.
    private static let heifs: [Sample] =
        ["plain.avif", "plain.heic", "alpha.avif", "alpha.heic"].flatMap { name in
            [(60_000, 60_000), (0x7FFF_FFFF, 1), (0, 0), (6000, 6000), (63, 31), (65, 33)].map { width, height in
                var bytes = ImageFixtures.bytes(name)
                for place in bytes.indices where bytes[place...].starts(with: Array("ispe".utf8)) {
                    bytes.replaceSubrange(place + 8..<place + 16, with: S.big(width, 4) + S.big(height, 4))
                }
                return Sample(description: "\(name) of \(width) by \(height)", bytes: bytes)
            }
        } + [
            // libheif 1.15 recurses on it until the stack overflows.
            Sample(description: "heic that is a part of itself", bytes: heicInItself),
            Sample(description: "avif's name alone", bytes: [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0]),
            Sample(description: "heic's name alone", bytes: [0, 0, 0, 16] + Array("ftypheic".utf8) + [0, 0, 0, 0]),
            Sample(
                description: "avif with a box of 2^32-1",
                bytes: [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
                    + Array("meta".utf8)),
            Sample(
                description: "avif of boxes in boxes",
                bytes: [0, 0, 0, 16] + Array("ftypavif".utf8) + [0, 0, 0, 0]
                    + (0..<5000).flatMap { S.big(8 * (5000 - $0), 4) + Array("moov".utf8) }),
        ]

    private static var heicInItself: [UInt8] {
        var bytes = ImageFixtures.bytes("plain.heic")
        for place in bytes.indices where bytes[place...].starts(with: Array("dimg".utf8)) { bytes[place + 9] = 2 }
        return bytes
    }

    private static func jpeg(width: Int, height: Int) -> [UInt8] {
        var bytes = S.jpeg
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: [0xFF, 0xC0]) }) else { return [] }
        bytes.replaceSubrange(place + 5..<place + 9, with: S.big(height, 2) + S.big(width, 2))
        return bytes
    }

    /// Files that are not images, or of unsupported formats.
    private static let foreign: [Sample] = [
        ("nothing", ""), ("one byte", "G"), ("text", String(repeating: "hello ", count: 50)),
        ("html", "<html><img src=x onerror=alert(1)>"),
        ("svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"),
        (
            "svg of a billion",
            "<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><svg>&b;</svg>"
        ),
        ("svg that reads files", "<svg><image href='file:///etc/passwd'/></svg>"),
        ("zip", "PK\u{3}\u{4}"), ("pdf", "%PDF-1.7"), ("elf", "\u{7F}ELF"), ("script", "#!/bin/sh\nrm -rf /"),
        ("xpm", "/* XPM */ static char *x[] = {\"99999 99999 1 1\"};"), ("pnm", "P6 99999 99999 255\n"),
        ("gif's name alone", "GIF89a"), ("bmp's name alone", "BM"), ("riff alone", "RIFF\0\0\0\0WEBP"),
    ].map { Sample(description: $0.0, bytes: Array($0.1.utf8)) }

    private static let whole: [(String, [UInt8])] = [
        ("png", S.png(width: 64, height: 64)), ("jpeg", S.jpeg), ("gif", S.gif(frames: 3)), ("webp", S.webp),
        ("moving webp", S.movingWebP(frames: 3)), ("bmp", S.bmp), ("tiff", S.tiff),
        ("avif", ImageFixtures.bytes("alpha.avif")), ("heic", ImageFixtures.bytes("alpha.heic")),
    ]

    private static let cut: [Sample] = whole.flatMap { name, bytes in
        [0.2, 0.4, 0.6, 0.8, 0.95].map { part in
            Sample(
                description: "\(name), \(Int(part * 100)) %",
                bytes: Array(bytes.prefix(Int(Double(bytes.count) * part))))
        }
    }

    /// Deterministic random byte changes.
    private static let scrambled: [Sample] = whole.flatMap { name, bytes in
        (1...8).map { seed in
            var (bytes, state) = (bytes, UInt64(seed) &* 0x9E37_79B9_7F4A_7C15)
            for _ in 0..<seed * 2 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                bytes[8 + Int(state >> 33) % (bytes.count - 8)] = UInt8(truncatingIfNeeded: state >> 25)
            }
            return Sample(description: "\(name), scrambled \(seed)", bytes: bytes)
        }
    }
}
