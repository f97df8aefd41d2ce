import Foundation
import GtkKit

/// The main thread's cost of a frame.
enum FrameCost {
    /// The budget of a frame at 60 Hz, in milliseconds.
    static let frame = 1000.0 / 60

    /// The main thread's CPU time, in milliseconds.
    static var cpu: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1_000_000
    }

    /// Returns after the next frame of a widget's window was drawn.
    static func nextFrame(of widget: Widget) async {
        guard let frames = widget.frameClock else { return }
        widget.queueDraw()
        await withCheckedContinuation { continuation in
            var connection: SignalConnection?
            connection = frames.connect("after-paint") { _ in
                guard let done = connection else { return }
                connection = nil
                done.disconnect()
                continuation.resume()
            }
        }
    }
}
