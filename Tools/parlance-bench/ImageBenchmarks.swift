import Foundation
import MediaDecoding
import ToolSupport

/// The CPU time of decoding an image from file to pixels, including the start of the decoder process.
struct ImageBenchmarks {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: URL

    /// - Parameter folder: where the images are written, replacing existing ones.
    init(folder: URL) throws {
        self.folder = folder
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Targets are gdk-pixbuf's times for the same files on the machine of the first measurements, plus 10 %.
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
        return [
            try row("16 × 16 PNG", small, 320, target: 2.2),
            try row("12 MP JPEG, 320 wide", jpeg, 320, target: 19),
            try row("12 MP JPEG, 1,920 wide", jpeg, 1920, target: 89),
            try row("2 MP PNG, whole", png, 2000, target: 39),
            try row("2 MP PNG, 320 wide", png, 320, target: 44),
            try row("12 MP WebP, 320 wide", webp, 320, target: 34),
            try row("GIF, 100 frames of 480 × 360", gif, 480, frames: 100, target: 136),
            try row("GIF, 100 frames made half as wide", gif, 240, frames: 100, target: 187),
        ]
    }

    private func row(
        _ name: String, _ path: String, _ side: Int, frames: Int = 1, target: Double
    ) throws -> BenchmarkRow {
        let times = try (0..<7).map { _ in try milliseconds(path, side, frames) }
        return BenchmarkRow(
            name: "pictures: \(name), of 7 the fastest", value: times.min() ?? .infinity, unit: "ms", target: target)
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
