import ChatTestSupport
import Foundation
import MediaDecoding

/// The records and frames that a decoder process returns for a file.
struct DecoderOutput: Equatable {
    struct Frame: Equatable {
        var width: Int
        var height: Int
        var delay: Int
        /// The pixels as RGBA, 8 bits per channel.
        var pixels: [UInt8]

        func pixel(_ x: Int, _ y: Int) -> [Int] {
            pixels[(y * width + x) * 4..<(y * width + x) * 4 + 4].map { Int($0) }
        }

        /// The pixel in the middle of each quarter, row by row.
        var quarters: [[Int]] {
            [(1, 1), (3, 1), (1, 3), (3, 3)].map { pixel(width * $0.0 / 4, height * $0.1 / 4) }
        }
    }

    var width: Int?
    var height: Int?
    var isAnimated = false
    var frames: [Frame] = []
    /// The failure, or `nil` if decoding reached the end or the requested number of frames.
    var failure: ImageFailure?

    /// - Parameter most: the maximum number of frames to read.
    init(_ bytes: [UInt8], _ mode: ImageProcess.Mode = .still, side: Int = 400, most: Int = 100) throws {
        let folder = TemporaryFolder()
        let file = folder.path("picture")
        try Data(bytes).write(to: file)
        let process = try withExtendedLifetime(folder) {
            try ImageProcess(mode, path: file.path, width: side, height: side)
        }
        defer { process.finish() }
        while frames.count < most {
            switch process.record() {
            case .info(let width, let height, let isAnimated):
                (self.width, self.height, self.isAnimated) = (width, height, isAnimated)
            case .frame(let width, let height, let delay):
                var pixels = [UInt8](repeating: 0, count: width * height * 4)
                guard pixels.withUnsafeMutableBytes({ process.read(into: $0) }) else {
                    failure = .stopped
                    return
                }
                frames.append(Frame(width: width, height: height, delay: delay, pixels: pixels))
            case .end: return
            case .failure(let failure):
                self.failure = failure
                return
            }
        }
    }
}
