import ChatCore
import GtkKit

/// Plays an animated image while it is visible, unless animations are disabled, and limits how many play at once.
final class ImagePlayer {
    static let maxConcurrent = 4
    /// The number of images playing.
    private(set) static var running = 0
    /// The number of images whose decoders are being started.
    private static var opening = 0

    private struct WeakPlayer {
        weak var player: ImagePlayer?
    }

    private static var players: [WeakPlayer] = []

    private let media: MediaReference
    private let previews: MediaPreviews
    private let size: (width: Int, height: Int)
    private weak var widget: Widget?
    /// To the widget, which may show other images after this one.
    private var connections: [SignalConnection] = []
    private let onFrame: (DecodedImage) -> Void
    private var stream: ImageStream?
    private var frameTask: Task<Void, Never>?
    private var pause: Timeout?
    /// The wait for a frame of the window while this image may not play.
    private var waiting: (clock: Object, connection: SignalConnection)?
    private var awaitsFrame = false
    private var isFinished = false
    /// The number of frames shown so far.
    private(set) var displayedFrameCount = 0

    /// - Parameters:
    ///   - width: The maximum width of frames, in pixels.
    ///   - height: The maximum height of frames, in pixels.
    ///   - widget: The widget that shows the frames.
    init(
        _ media: MediaReference, _ previews: MediaPreviews, fitting width: Int, by height: Int, in widget: Widget,
        onFrame: @escaping (DecodedImage) -> Void
    ) {
        self.media = media
        self.previews = previews
        size = (width, height)
        self.widget = widget
        self.onFrame = onFrame
        Self.players.removeAll { $0.player == nil }
        Self.players.append(WeakPlayer(player: self))
        connections = [
            widget.onMap { [weak self] _ in self?.step() },
            widget.onUnmap { [weak self] _ in self?.stop() },
        ]
        step()
    }

    isolated deinit {
        stop()
        if widget != nil { for connection in connections { connection.disconnect() } }
    }

    var isPlaying: Bool { stream != nil }

    /// Releases the stream, which ends its decoder process.
    private func stop() {
        frameTask?.cancel()
        frameTask = nil
        endWaiting()
        guard stream != nil else { return }
        stream = nil
        Self.running -= 1
        Self.noteFreeSlot()
    }

    /// Those that wait look again after a frame, in whatever window.
    private static func noteFreeSlot() {
        for other in players where other.player?.waiting != nil { other.player?.widget?.queueDraw() }
    }

    private func endWaiting() {
        pause = nil
        waiting?.connection.disconnect()
        waiting = nil
        awaitsFrame = false
    }

    private func step() {
        endWaiting()
        guard let widget, !isFinished, widget.isMapped else { return stop() }
        guard widget.isInSight, widget.enablesAnimations,
            stream != nil || Self.running < Self.maxConcurrent
        else {
            stop()
            return waitForSlot()
        }
        frameTask?.cancel()
        if let stream {
            showNextFrame(from: stream)
        } else {
            start()
        }
    }

    private func start() {
        frameTask = Task { [weak self, previews, media, size] in
            let file = await previews.file(of: media)
            guard let file, !Task.isCancelled, self != nil else { return }
            // Other images may have started while this file was being fetched.
            guard Self.running + Self.opening < Self.maxConcurrent else {
                self?.waitForSlot()
                return
            }
            Self.opening += 1
            let stream = await ImageStream.open(file, fitting: size.width, by: size.height)
            Self.opening -= 1
            guard let stream, !Task.isCancelled, let self else { return Self.noteFreeSlot() }
            self.stream = stream
            Self.running += 1
            step()
        }
    }

    /// Looks again some time after a frame: scrolling, the end of another image and changed settings all draw one. A
    /// window that draws none wakes nothing up.
    private func waitForSlot() {
        guard let clock = widget?.frameClock else { return }
        let connection = clock.connect("after-paint") { [weak self] _ in
            guard let self, pause == nil else { return }
            pause = Timeout(after: .milliseconds(400)) { [weak self] in self?.step() }
        }
        waiting = (clock, connection)
    }

    /// Goes on with the next frame of the window, which comes only while the desktop shows it.
    private func waitForFrame() {
        awaitsFrame = true
        widget?.addTick { [weak self] in
            if let self, awaitsFrame {
                awaitsFrame = false
                step()
            }
            return false
        }
    }

    private func showNextFrame(from stream: ImageStream) {
        frameTask = Task { [weak self] in
            let frame = await stream.next()
            guard !Task.isCancelled, let self else { return }
            guard let frame else {
                isFinished = true
                return stop()
            }
            onFrame(frame.picture)
            displayedFrameCount += 1
            pause = Timeout(after: frame.delay) { [weak self] in self?.waitForFrame() }
        }
    }
}

extension Widget {
    /// Whether the widget is at least partly within the bounds of all ancestors. Mapped is not enough: lists realize
    /// rows beyond the viewport.
    var isInSight: Bool {
        var parent = self.parent
        while let ancestor = parent {
            guard let bounds = bounds(in: ancestor), bounds.x < Double(ancestor.width),
                bounds.y < Double(ancestor.height), bounds.x + bounds.width > 0, bounds.y + bounds.height > 0
            else { return false }
            parent = ancestor.parent
        }
        return true
    }
}
