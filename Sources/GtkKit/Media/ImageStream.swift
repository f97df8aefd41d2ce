import Dispatch
public import Foundation
import MediaDecoding
import Synchronization

/// The frames of an animated image, decoded on demand in an endless loop.
///
/// A dedicated process waits for each request; dropping the stream ends it.
public nonisolated final class ImageStream: Sendable {
    private let process: ImageProcess
    private let queue: DispatchQueue
    private let isEnded = Atomic(false)

    /// Starts decoding without the caller's thread: the disk may be slow to open the file and the program.
    /// - Returns: `nil` if the decoder could not be started: the still image stays, whatever the reason.
    public static func open(_ file: URL, fitting width: Int, by height: Int) async -> ImageStream? {
        let queue = DispatchQueue(label: "picture-stream", qos: .userInitiated)
        let process = await withCheckedContinuation { (continuation: CheckedContinuation<ImageProcess?, Never>) in
            queue.async {
                continuation.resume(
                    returning: try? ImageProcess(.play, path: file.path, width: width, height: height))
            }
        }
        return process.map { ImageStream($0, queue) }
    }

    private init(_ process: ImageProcess, _ queue: DispatchQueue) {
        self.process = process
        self.queue = queue
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
