import ConfinedDecoding
import Glibc
import ImageDecoders
import MediaDecoding

/// Runs the image decoders in this process on generated files, and checks their output for consistency.
public enum ImageFuzzRun {
    /// An image format, with the signature that its files begin with.
    public enum Kind: String, CaseIterable, Sendable {
        case png, jpeg, gif, webp, bmp, tiff, heif

        var signatures: [(place: Int, bytes: [UInt8])] {
            switch self {
            case .png: [(0, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])]
            case .jpeg: [(0, [0xFF, 0xD8, 0xFF])]
            case .gif: [(0, Array("GIF89a".utf8))]
            case .webp: [(0, Array("RIFF".utf8)), (8, Array("WEBP".utf8))]
            case .bmp: [(0, Array("BM".utf8))]
            case .tiff: [(0, [0x49, 0x49, 0x2A, 0])]
            case .heif: [(4, Array("ftypavif".utf8))]
            }
        }
    }

    /// A pixel limit that keeps runs short; larger images reveal no further bugs.
    private static let maxPixels = 1 << 16
    private static let maxFrames = 4

    /// Writes the signature of `kind` over the bytes, and decodes them in every mode.
    /// - Returns: the violated invariant, or `nil` if all hold.
    public static func run(_ bytes: [UInt8], as kind: Kind) -> String? {
        var bytes = bytes
        for (offset, signature) in kind.signatures where bytes.count >= offset + signature.count {
            // Keep a HEIC brand (`hei?`) that is already there.
            if kind == .heif, bytes[4..<8].elementsEqual("ftyp".utf8), bytes[8..<11].elementsEqual("hei".utf8) {
                continue
            }
            bytes.replaceSubrange(offset..<offset + signature.count, with: signature)
        }
        if kind == .png { Checksums.correct(&bytes) }
        // Allocate exactly the file's size, so that sanitizers detect reads beyond it.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        return decode(UnsafeRawBufferPointer(memory))
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer) -> String? {
        let image: ImageFile
        do throws(ImageFailure) {
            image = try ImageFile(bytes)
        } catch {
            return error == .unknownFormat ? nil : "opened: \(error)"
        }
        var sizes: [Seen.Size?] = []
        for (mode, side) in [(DecodingMode.size, 1), (.still, 40), (.play, 400)] {
            var request = DecodingRequest(mode: mode, width: side, height: side)
            request.maxPixels = maxPixels
            let seen = Seen(request, maxFrames: maxFrames)
            do throws(ImageFailure) {
                try image.decode(request, to: seen)
                if seen.reportedSize == nil { return "\(mode): ended without a size" }
                if mode != .size, seen.frames == 0 { return "\(mode): ended without a frame" }
            } catch {
                if error == .unknownFormat, seen.reportedSize != nil, seen.frames > 0 {
                    return "\(mode): unknown after a frame"
                }
            }
            if mode == .size, seen.frames > 0 { return "size: a frame" }
            if let violation = seen.violation { return "\(mode): \(violation)" }
            sizes.append(seen.reportedSize)
        }
        return sizes.allSatisfy { $0 == sizes[0] } ? nil : "another size each time: \(sizes)"
    }
}

/// Checks the size and frames that a decoder reports.
private final class Seen: ImageSink {
    struct Size: Equatable {
        var width: Int
        var height: Int
        var isAnimated: Bool
    }

    private let request: DecodingRequest
    private let maxFrames: Int
    private(set) var reportedSize: Size?
    private(set) var frames = 0
    private(set) var violation: String?

    init(_ request: DecodingRequest, maxFrames: Int) {
        self.request = request
        self.maxFrames = maxFrames
    }

    func reportInfo(width: Int, height: Int, isAnimated: Bool) {
        if reportedSize != nil { violation = "told twice" }
        if width <= 0 || height <= 0 || width * height > request.maxPixels { violation = "told \(width) × \(height)" }
        reportedSize = Size(width: width, height: height, isAnimated: isAnimated)
    }

    func startFrame() {
        if reportedSize == nil { violation = "a frame before the size" }
    }

    func show(_ pixels: UnsafeRawBufferPointer, width: Int, height: Int, delay: Int) throws(ImageFailure) {
        frames += 1
        if width <= 0 || height <= 0 || pixels.count != width * height * 4 {
            violation = "\(pixels.count) bytes for \(width) × \(height)"
        }
        // Within the requested box or the box rotated by 90°.
        if min(width, height) > min(request.width, request.height)
            || max(width, height) > max(request.width, request.height)
        {
            violation = "\(width) × \(height) in a box of \(request.width) × \(request.height)"
        }
        if delay < 0 || delay > 60_000 { violation = "shown for \(delay) ms" }
        // Read every byte, as writing to a pipe would, so that sanitizers detect invalid memory.
        var sum: UInt64 = 0
        for byte in pixels { sum &+= UInt64(byte) }
        if sum > UInt64(pixels.count) * 255 { violation = "a byte of more than a byte" }
        if frames == maxFrames { throw .stopped }
    }
}

/// Fixes the CRCs of PNG chunks: libpng rejects a bad CRC before decoding anything.
private enum Checksums {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    static func correct(_ bytes: inout [UInt8]) {
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length <= bytes.count - offset - 12 else { return }
            let end = offset + 8 + length
            var sum: UInt32 = 0xFFFF_FFFF
            for byte in bytes[offset + 4..<end] { sum = sum >> 8 ^ table[Int((sum ^ UInt32(byte)) & 0xFF)] }
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: ~sum >> UInt32(24 - 8 * index)) }
            offset = end + 4
        }
    }
}
