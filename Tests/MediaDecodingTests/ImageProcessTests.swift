import ChatTestSupport
import Foundation
import MediaDecoding
import Testing

/// The process that decodes images, started as the application starts it.
struct ImageProcessTests {
    @Test(arguments: [
        ("png", SampleImages.png(width: 64, height: 32), 64, 32),
        ("jpeg", SampleImages.jpeg, 16, 8), ("turned jpeg", SampleImages.turnedJPEG, 8, 16),
        ("gif", SampleImages.gif(frames: 2), 4, 4), ("webp", SampleImages.webp, 1, 1),
        ("moving webp", SampleImages.movingWebP(frames: 2), 1, 1), ("bmp", SampleImages.bmp, 2, 1),
        ("tiff", SampleImages.tiff, 2, 1),
    ])
    func sizeAndImageAgree(kind: String, bytes: [UInt8], width: Int, height: Int) throws {
        try withFile(bytes) { path in
            let sizing = try ImageProcess(.size, path: path, width: 1, height: 1)
            defer { sizing.finish() }
            let size = sizing.record()
            guard case .info(width, height, _) = size else {
                Issue.record("\(kind): \(size)")
                return
            }
            let decoding = try ImageProcess(.still, path: path, width: 4000, height: 4000)
            defer { decoding.finish() }
            guard case .info(width, height, _) = decoding.record() else {
                Issue.record("\(kind): no info")
                return
            }
            #expect(decoding.record() == .frame(width: width, height: height, delay: 0) || kind == "moving webp")
        }
    }

    @Test func pixelsMatchTheFile() throws {
        #expect(try pixels(SampleImages.bmp, .still) == [[255, 0, 0, 255, 0, 255, 0, 255]])
        #expect(try pixels(SampleImages.tiff, .still) == [[0, 0, 0, 255, 255, 255, 255, 255]])
    }

    @Test func imageIsScaledToTheDisplaySize() throws {
        try withFile(SampleImages.png(width: 4000, height: 2000)) { path in
            let process = try ImageProcess(.still, path: path, width: 320, height: 320)
            defer { process.finish() }
            #expect(process.record() == .info(width: 4000, height: 2000, isAnimated: false))
            #expect(process.record() == .frame(width: 320, height: 160, delay: 0))
        }
    }

    @Test func framesPlayInOrderAndLoop() throws {
        let frames = try pixels(SampleImages.gif(frames: 2), .play, count: 5)
        #expect(frames.map { $0.first } == [0, 255, 0, 255, 0])
        #expect(try pixels(SampleImages.movingWebP(frames: 3), .play, count: 7).count == 7)
    }

    /// The process blocks on its output pipe here; meanwhile its confinement can be inspected.
    @Test func decoderCannotOpenFiles() throws {
        try withFile(SampleImages.gif(frames: 2, width: 400, height: 400, frameSide: 60)) { path in
            let process = try ImageProcess(.play, path: path, width: 400, height: 400)
            defer { process.finish() }
            _ = process.record()
            let folder = "/proc/\(process.identifier)"
            let limits = try String(contentsOfFile: "\(folder)/limits", encoding: .utf8)
            let named = Dictionary(
                limits.split(separator: "\n").map { ($0.prefix(26).trimmed, $0.dropFirst(26).prefix(20).trimmed) },
                uniquingKeysWith: { first, _ in first })
            #expect(named["Max open files"] == "3")
            #expect(named["Max file size"] == "0")
            #expect(named["Max address space"] == "\(ImageLimits.memory)")
            let status = try String(contentsOfFile: "\(folder)/status", encoding: .utf8)
            #expect(status.contains("\nSeccomp:\t2\n"))
            #expect(status.contains("\nNoNewPrivs:\t1\n"))
        }
    }

    /// After the process is reaped its ID may belong to another process.
    @Test func finishedProcessIsNotInterrupted() async throws {
        let process = try withFile(SampleImages.gif(frames: 2)) { path in
            try ImageProcess(.play, path: path, width: 100, height: 100)
        }
        #expect(process.interrupt())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { while process.interrupt() {} } }
            process.finish()
        }
        #expect(!process.interrupt())
        #expect(kill(process.identifier, 0) != 0, "it is gone")
    }

    @Test func nonFilesAreRejected() {
        for path in ["/nowhere/at/all", "/tmp", "/dev/zero"] {
            #expect(throws: ImageFailure.broken) {
                try ImageProcess(.still, path: path, width: 1, height: 1).finish()
            }
        }
    }

    @Test func thereAreManyBombs() { #expect(HostileImages.all.count >= 150) }

    /// Returns an image or an error within the resource limits, and never hangs.
    @Test(arguments: HostileImages.all)
    func bombsYieldAnImageOrAnError(sample: HostileImages.Sample) throws {
        try withFile(sample.bytes) { path in
            for mode in [ImageProcess.Mode.still, .play] {
                let process = try ImageProcess(mode, path: path, width: 320, height: 320)
                var frames = 0
                reading: while frames < 3 {
                    switch process.record() {
                    case .info: continue
                    case .frame(let width, let height, _):
                        frames += 1
                        #expect(width * height <= 320 * 320)
                        var pixels = [UInt8](repeating: 0, count: width * height * 4)
                        guard pixels.withUnsafeMutableBytes({ process.read(into: $0) }) else { break reading }
                    case .end, .failure: break reading
                    }
                }
                let use = process.finish()
                // A child's `ru_maxrss` starts at the parent's peak.
                var own = rusage()
                getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &own)
                #expect(use.mostMemory <= max(ImageLimits.memory, own.ru_maxrss * 1024))
                #expect(use.seconds <= Double(ImageLimits.seconds) * 3 + 1)
            }
        }
    }

    private func pixels(_ bytes: [UInt8], _ mode: ImageProcess.Mode, count: Int = 1) throws -> [[UInt8]] {
        try withFile(bytes) { path in
            let process = try ImageProcess(mode, path: path, width: 100, height: 100)
            defer { process.finish() }
            var frames: [[UInt8]] = []
            while frames.count < count {
                switch process.record() {
                case .info: continue
                case .frame(let width, let height, _):
                    var pixels = [UInt8](repeating: 0, count: width * height * 4)
                    guard pixels.withUnsafeMutableBytes({ process.read(into: $0) }) else { return frames }
                    frames.append(pixels)
                case .end, .failure: return frames
                }
            }
            return frames
        }
    }

    private func withFile<R>(_ bytes: [UInt8], _ body: (String) throws -> R) throws -> R {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try Data(bytes).write(to: file)
        // A leftover temporary file is harmless.
        defer { try? FileManager.default.removeItem(at: file) }
        return try body(file.path)
    }
}

extension Substring {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespaces) }
}
