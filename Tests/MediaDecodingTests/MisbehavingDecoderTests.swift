import ChatTestSupport
import Foundation
import Testing

@testable import MediaDecoding

/// Decoder processes compromised by a file, emulated by shell scripts.
struct MisbehavingDecoderTests {
    /// Returns a process whose decoder is a shell running `script`.
    private func decoder(_ script: String, within time: Duration? = nil) throws -> ImageProcess {
        let folder = TemporaryFolder()
        try Data(script.utf8).write(to: folder.path("script"))
        return try withExtendedLifetime(folder) {
            try ImageProcess("/bin/sh", [], folder.path("script").path, maxBytes: .max, within: time)
        }
    }

    /// Returns a shell command that writes `bytes` as octal escapes.
    private func printing(_ bytes: [UInt8]) -> String {
        "printf '" + bytes.map { "\\" + String($0, radix: 8).leftPadded }.joined() + "'"
    }

    @Test func secondImageHeaderIsRejected() throws {
        let info = ImageRecord.info(width: 2, height: 3, isAnimated: false)
        let process = try decoder("while \(printing(info.bytes)); do :; done")
        defer { process.finish() }
        #expect(process.record() == info)
        #expect(process.record() == .failure(.broken))
    }

    @Test func secondVideoHeaderIsRejected() throws {
        let media = VideoRecord.media(duration: 1, width: 2, height: 3, hasAudio: false)
        let process = try decoder("while \(printing(media.bytes)); do :; done")
        defer { process.finish() }
        #expect(process.videoRecord() == media)
        #expect(process.videoRecord() == .failure(.broken))
    }

    /// The process is stopped, whether it writes endlessly or not at all.
    @Test(.timeLimit(.minutes(10)), arguments: ["while printf 1234567890; do :; done", "while :; do :; done"])
    func unresponsiveDecoderIsStopped(script: String) throws {
        let process = try decoder(script, within: .milliseconds(200))
        defer { process.finish() }
        var bytes = [UInt8](repeating: 0, count: 100)
        while bytes.withUnsafeMutableBytes({ process.read(into: $0) }) {}
        #expect(process.record() == .failure(.stopped))
    }
}

extension String {
    fileprivate var leftPadded: String { String(repeating: "0", count: 3 - count) + self }
}
