import CWebP
import Foundation
import MediaDecoding
import ToolSupport

/// The CPU time of decoding an image from file to pixels, including the start of the decoder process, beside that of
/// gdk-pixbuf, or libwebp for WebP, in this process.
struct ImageBenchmarks {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: URL
    private let pixbuf = PixbufLoader()

    /// - Parameter folder: where the images are written, replacing existing ones.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func rows() throws -> [BenchmarkRow] {
        let photo = BenchmarkImages.photo(4000, 3000)
        let screen = BenchmarkImages.photo(1920, 1080)
        let file = { (name: String, bytes: [UInt8]) throws -> String in
            let file = folder.appending(path: name)
            try Data(bytes).write(to: file)
            return file.path
        }
        let small = try file("small.png", BenchmarkImages.png(BenchmarkImages.photo(16, 16), 16, 16))
        let jpeg = try file("photo.jpg", BenchmarkImages.jpeg(photo, 4000, 3000))
        let webp = try file("photo.webp", BenchmarkImages.webp(photo, 4000, 3000))
        let png = try file("screen.png", BenchmarkImages.png(screen, 1920, 1080))
        let gif = try file("moving.gif", BenchmarkImages.gif(480, 360, frames: 12))
        let start = try times(small, 320).min() ?? .infinity
        let ratio = { (name: String, path: String, side: Int?, frames: Int) in
            try row(name, path, side, frames: frames, after: start) { pixbuf?.milliseconds(path, side, frames) }
        }
        return [
            BenchmarkRow(
                name: "pictures: 16 × 16 PNG, of 7 the fastest", value: start, unit: "ms", target: 2.2),
            try ratio("12 MP JPEG, 320 wide", jpeg, 320, 1),
            try ratio("12 MP JPEG, 1,920 wide", jpeg, 1920, 1),
            try ratio("2 MP PNG, whole", png, nil, 1),
            try ratio("2 MP PNG, 320 wide", png, 320, 1),
            try row("12 MP WebP, 320 wide", webp, 320, after: start) { Self.readWebP(webp, 320) },
            try ratio("GIF, 100 frames of 480 × 360", gif, nil, 100),
            try ratio("GIF, 100 frames made half as wide", gif, 240, 100),
        ]
    }

    /// The fastest of 7 without the start of the process, as a ratio to what a library needs in this one.
    private func row(
        _ name: String, _ path: String, _ side: Int?, frames: Int = 1, after start: Double, _ library: () -> Double?
    ) throws -> BenchmarkRow {
        var (own, others): ([Double], [Double]) = ([], [])
        for _ in 0..<7 {
            own.append(try milliseconds(path, side ?? 4000, frames))
            if let time = library() { others.append(time) }
        }
        guard let time = own.min(), let least = others.min() else {
            return BenchmarkRow(name: "pictures: \(name), of 7 the fastest", value: own.min() ?? .infinity, unit: "ms")
        }
        return BenchmarkRow(
            name: "pictures: \(name), to the library alone", value: (time - start) / least, unit: "ratio", target: 1.1)
    }

    /// The CPU time in milliseconds of decoding and scaling with libwebp alone; `nil` if it cannot.
    private static func readWebP(_ path: String, _ width: Int) -> Double? {
        let start = ThreadClock.milliseconds
        var config = WebPDecoderConfig()
        guard let data = FileManager.default.contents(atPath: path), WebPInitDecoderConfig(&config) != 0 else {
            return nil
        }
        config.options.use_scaling = 1
        (config.options.scaled_width, config.options.scaled_height) = (Int32(width), Int32(width * 3 / 4))
        config.output.colorspace = MODE_BGRA
        let status = data.withUnsafeBytes {
            WebPDecode($0.bindMemory(to: UInt8.self).baseAddress, data.count, &config)
        }
        WebPFreeDecBuffer(&config.output)
        return status == VP8_STATUS_OK ? ThreadClock.milliseconds - start : nil
    }

    private func times(_ path: String, _ side: Int) throws -> [Double] {
        try (0..<7).map { _ in try milliseconds(path, side, 1) }
    }

    private func milliseconds(_ path: String, _ side: Int, _ frames: Int) throws -> Double {
        let process = try ImageProcess(frames > 1 ? .play : .still, path: path, width: side, height: side)
        var seen = 0
        while seen < frames {
            switch process.record() {
            case .info: continue
            case .frame(let width, let height, _):
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                guard pixels.withUnsafeMutableBytes({ process.read(into: $0) }) else {
                    throw Failure(description: "\(path): cut off")
                }
                seen += 1
            case .end, .failure: throw Failure(description: "\(path): \(seen) frames of \(frames)")
            }
        }
        return process.finish().seconds * 1000
    }
}
