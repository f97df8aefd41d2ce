import CGtk
import ChatCore
import ChatViewModels
import Foundation
import GtkKit
import GtkToolSupport

/// Waits for what is to be drawn. How long that takes depends on the machine, and on what else runs there.
extension Gallery {
    /// What takes longer has failed.
    private static let limit = Duration.seconds(120)
    /// Several times the time between two frames.
    private static let pause = Duration.milliseconds(50)

    /// Waits until a condition holds. If it never does, ends the program: a picture of something else might look right.
    /// - Parameter name: what the error message calls it.
    func wait(for name: String, until condition: () -> Bool) async {
        let end = ContinuousClock.now + Self.limit
        while !condition() {
            guard ContinuousClock.now < end else { Self.fail("waited \(Self.limit) for \(name)") }
            // Throws only on cancellation, and nothing cancels this task.
            try? await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until all that was asked for is drawn: the service, the decoders and the window manager have answered twice
    /// in succession without any window drawing a frame since.
    ///
    /// Before, call ``PictureFolder/prepare()`` if there may be a spinner: animated, it would draw frames forever.
    func waitUntilDrawn() async {
        let end = ContinuousClock.now + Self.limit
        var (frames, roundsWithoutFrame) = (Self.frames, 0)
        while roundsWithoutFrame < 2 {
            guard ContinuousClock.now < end else { Self.fail("windows still draw after \(Self.limit)") }
            await service.waitForEarlierCalls()
            for queue in [ImageDecoder.imageQueue, ImageDecoder.videoQueue] { _ = await ImageDecoder.on(queue) {} }
            await waitForWindowManager()
            try? await Task.sleep(for: Self.pause)
            // On a busy machine, frames are late: those that are due come before this.
            await MainLoop.idle()
            let drawn = Self.frames
            let isDrawn = drawn == frames && drawn.values.allSatisfy { $0 >= 0 }
            roundsWithoutFrame = isDrawn ? roundsWithoutFrame + 1 : 0
            frames = drawn
        }
    }

    /// Waits until the window manager has handled what was asked of it, such as another size of a window.
    private func waitForWindowManager() async {
        guard let display = gdk_display_get_default(), let barrier = WindowManagerBarrier.shared else { return }
        gdk_display_sync(display)
        let isReached = barrier.reached()
        await wait(for: "the window manager") { isReached() }
        gdk_display_sync(display)
    }

    /// The number of the last frame of each window, negative before the first.
    private static var frames: [UnsafeMutableRawPointer: Int64] {
        let windows = gtk_window_get_toplevels()
        var frames: [UnsafeMutableRawPointer: Int64] = [:]
        for index in 0..<g_list_model_get_n_items(windows) {
            guard let window = g_list_model_get_item(windows, index) else { continue }
            defer { g_object_unref(window) }
            frames[window] = Widget(borrowing: window).frameCounter
        }
        return frames
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("parlance-gallery: \(message)\n".utf8))
        exit(1)
    }

    // MARK: Rooms

    /// Selects a room in the main window, and waits until it is drawn.
    func open(_ room: RoomID) async {
        coordinator?.rooms.send(.select(room))
        await waitForMessages(of: room)
        await waitUntilDrawn()
    }

    /// Waits until a room is open in the main window, with its messages and its draft.
    func waitForMessages(of room: RoomID) async {
        await wait(for: "the room \(room.rawValue)") {
            guard let conversation = coordinator?.conversation, conversation.roomID == room else { return false }
            return conversation.timeline.state.isLoaded && conversation.composer.state.isReady
        }
    }
}
