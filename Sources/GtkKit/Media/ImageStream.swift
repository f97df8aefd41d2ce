import Dispatch
public import Foundation
import MediaDecoding
import Synchronization

/// The frames of an animated image, decoded on demand in an endless loop.
///
/// A dedicated process waits for each request; dropping the stream ends it.
public nonisolated final class ImageStream: Sendable {
    private let process: ImageProcess
    private let queue = DispatchQueue(label: "picture-stream", qos: .userInitiated)
    private let isEnded = Atomic(false)

    /// - Returns: `nil` if the decoder could not be started: the still image stays, whatever the reason.
    public init?(_ file: URL, fitting width: Int, by height: Int) {
        guard let process = try? ImageProcess(.play, path: file.path, width: width, height: height) else {
            return nil
        }
        self.process = process
    }

    deinit {
        let process = process
        process.interrupt()
        // Runs after a pending read, which fails once the process has been interrupted.
        queue.async { process.finish() }
    }

    /// Returns the next frame and its display duration, or `nil` at the end or on an error.
    public func next() async -> (picture: DecodedImage, delay: Duration)? {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: self.read()) }
        }
    }

    private func read() -> (picture: DecodedImage, delay: Duration)? {
        while !isEnded.load(ordering: .relaxed) {
            switch process.record() {
            case .info: continue
            case .frame(let width, let height, let delay):
                guard let image = DecodedImage(reading: process, width: width, height: height, isAnimated: true) else {
                    break
                }
                return (image, .milliseconds(delay))
            case .end, .failure: break
            }
            isEnded.store(true, ordering: .relaxed)
        }
        return nil
    }
}
