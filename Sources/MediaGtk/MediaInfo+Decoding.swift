import CJpeg
public import ChatCore
public import Foundation
import GtkKit
import MediaDecoding

/// Reads files in confined decoder processes.
nonisolated extension MediaInfo {
    /// The maximum side length of a poster, in pixels.
    private static let posterSide = 800
    private static let posterQuality: Int32 = 75
    /// The maximum side length of the image that BlurHash is computed from, in pixels.
    private static let hashedSide = 32

    private struct Frame {
        var width: Int
        var height: Int
        /// RGBA, 8 bits per channel.
        var pixels: [UInt8]
    }

    /// - Returns: `nil` if the image cannot be decoded, whatever the reason: it is sent without size and BlurHash.
    public static func ofImage(_ file: URL) async -> MediaInfo? {
        await ImageDecoder.on(ImageDecoder.imageQueue) { () -> MediaInfo? in
            guard
                let process = try? ImageProcess(
                    .still, path: file.path, width: Self.hashedSide, height: Self.hashedSide),
                let (size, frame) = Self.frame(of: process)
            else { return nil }
            return MediaInfo(size: size, blurHash: frame.flatMap { Self.hash(of: $0) })
        } ?? nil
    }

    /// - Returns: `nil` if the file cannot be decoded, whatever the reason: it is sent without duration and size.
    public static func ofVideoOrAudio(_ file: URL) async -> MediaInfo? {
        await ImageDecoder.on(ImageDecoder.videoQueue) { () -> MediaInfo? in
            guard let process = try? ImageProcess(film: .size, path: file.path, width: 16, height: 16) else {
                return nil
            }
            defer { process.finish() }
            guard case .media(let duration, let width, let height, _) = process.videoRecord() else { return nil }
            var info = MediaInfo()
            info.duration = duration > 0 ? duration : nil
            guard width > 0 else { return info }
            info.size = (width, height)
            // A video can be sent without its poster.
            let still = try? ImageProcess(
                film: .still, path: file.path, width: Self.posterSide, height: Self.posterSide)
            guard let still, let frame = Self.frame(of: still)?.frame else { return info }
            info.poster = Self.jpeg(of: frame)
            info.blurHash = Self.hash(of: frame)
            return info
        } ?? nil
    }

    /// - Returns: The size and the first frame; the frame is `nil` if only the size could be decoded.
    private static func frame(of process: ImageProcess) -> (size: (width: Int, height: Int), frame: Frame?)? {
        defer { process.finish() }
        var size: (width: Int, height: Int)?
        while true {
            switch process.record() {
            case .info(let width, let height, _): size = (width, height)
            case .frame(let width, let height, _):
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                let isRead = pixels.withUnsafeMutableBytes { process.read(into: $0) }
                return size.map { ($0, isRead ? Frame(width: width, height: height, pixels: pixels) : nil) }
            case .end, .failure: return size.map { ($0, nil) }
            }
        }
    }

    private static func hash(of frame: Frame) -> String? {
        let scale = min(1, Double(hashedSide) / Double(max(frame.width, frame.height)))
        guard scale < 1 else { return BlurHash(of: frame.pixels, width: frame.width, height: frame.height)?.text }
        let (width, height) = (max(1, Int(Double(frame.width) * scale)), max(1, Int(Double(frame.height) * scale)))
        // Box filter: each output pixel is the mean of the pixels it covers.
        var means = [UInt8](repeating: 0, count: width * height * 4)
        frame.pixels.withUnsafeBufferPointer { pixels in
            for y in 0..<height {
                let lines = y * frame.height / height..<(y + 1) * frame.height / height
                for x in 0..<width {
                    let columns = x * frame.width / width..<(x + 1) * frame.width / width
                    var sums = SIMD4<UInt32>.zero
                    for line in lines {
                        for column in columns {
                            let offset = (line * frame.width + column) * 4
                            sums &+= SIMD4(
                                UInt32(pixels[offset]), UInt32(pixels[offset + 1]), UInt32(pixels[offset + 2]),
                                UInt32(pixels[offset + 3]))
                        }
                    }
                    sums /= UInt32(lines.count * columns.count)
                    for channel in 0..<4 { means[(y * width + x) * 4 + channel] = UInt8(sums[channel]) }
                }
            }
        }
        return BlurHash(of: means, width: width, height: height)?.text
    }

    private static func jpeg(of frame: Frame) -> Data? {
        var count = 0
        guard
            let bytes = shim_jpeg_of(frame.pixels, Int32(frame.width), Int32(frame.height), posterQuality, &count)
        else { return nil }
        defer { free(bytes) }
        return Data(bytes: bytes, count: count)
    }
}
