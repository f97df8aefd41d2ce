import CGtk
package import ChatCore
import Foundation
package import GtkKit

/// A voice message: play button, waveform and duration. Once it has been played, the left and right arrow keys seek,
/// whichever of its buttons has the focus.
@MainActor package final class VoiceMessageView {
    /// How far an arrow key seeks, in microseconds.
    private static let seekStep: Int64 = 5_000_000

    package let widget: Widget
    let play: Button
    let bars: WaveformView
    /// Why it cannot be played, as displayed to the user.
    private(set) var problem: String?
    private(set) var stream: MediaStream?
    private let file: MediaReference
    private let save: FileButton
    private let time = Label()
    private let texts: MediaTexts
    private let media: MediaPresenter
    private let audioKey: String?
    private var loading: Task<Void, Never>?
    /// To the stream, which may outlast many views of it.
    private var connections: [SignalConnection] = []

    /// - Parameter audioKey: Identifies the audio in its room, where it goes on while the view is unmapped or replaced;
    ///   `nil` pauses it then.
    package init(_ file: MediaReference, _ media: MediaPresenter, audioKey: String? = nil) {
        self.file = file
        self.media = media
        self.audioKey = audioKey
        texts = media.texts
        let row = Box(.horizontal, spacing: 9)
        row.addStyle("message-voice")
        widget = row
        play = FileCard.button(
            "media-playback-start-symbolic", translated("Play"), media.texts.playButton(file, false))
        let drawing = WaveformView.make()
        guard let bars = WaveformView.of(drawing) else { fatalError("ParlanceLoudnessBars has no implementation") }
        self.bars = bars
        bars.show(file.loudness ?? [])
        drawing.setAccessibleLabel(translated("Voice Message"))
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        save = FileButton(
            "parlance-save-symbolic", translated("Save"), translated("Save {name}", ["name": file.name]))
        for child in [play, drawing, time, save.widget] { row.append(child) }
        showTime(0)
        play.onClick { [weak self] in self?.toggle() }
        bars.onSeek = { [weak self] in self?.seek(to: $0) }
        save.onClick { [weak self] completion in
            guard let self else { return completion() }
            self.media.save(self.file, over: self.widget, completion: completion)
        }
        addKeys()
        row.onUnmap { [weak self] _ in self?.pause() }
        loading = Task { [weak media] in _ = await media?.prefetch(file) }
        resumeAudio()
    }

    /// Shows the audio again that an earlier view of it has started.
    package func resumeAudio() {
        guard let running = media.stream(ofAudio: audioKey), running !== stream else { return }
        show(running)
        showState()
    }

    isolated deinit {
        loading?.cancel()
        pause()
        disconnect()
    }

    private func pause() {
        if audioKey == nil, let stream { stream.pause() }
    }

    private func toggle() {
        if let stream {
            stream.isPlaying = !stream.isPlaying
        } else {
            let resume = play.suspend()
            media.withContent(of: file) { [weak self] in
                resume()
                self?.start($0)
            } onFailure: {
                resume()
            }
        }
    }

    private func start(_ content: URL) {
        let stream = VideoStream.open(content, fitting: 1, by: 1)
        show(stream)
        media.follow(stream, as: audioKey)
        // If it has been unmapped meanwhile, nothing would pause it later.
        if widget.isMapped { stream.play() }
        if stream.hasFailed { fail() }
    }

    private func show(_ stream: MediaStream) {
        disconnect()
        self.stream = stream
        connections = [
            stream.onFailure { [weak self] in self?.fail() },
            stream.onProgress { [weak self] in self?.showProgress() },
            stream.onPlayingChange { [weak self] in self?.showState() },
        ]
    }

    private func disconnect() {
        for connection in connections { connection.disconnect() }
        connections = []
    }

    private func seek(to position: Double) {
        guard let stream, stream.isPrepared else { return }
        stream.seek(to: Int64(position * Double(stream.duration)))
    }

    private func addKeys() {
        let keys = KeyController()
        keys.onPress { [weak self] in self?.handleKey($0) ?? false }
        widget.addController(keys)
    }

    private func handleKey(_ press: KeyPress) -> Bool {
        guard press.modifiers.isDisjoint(with: [.control, .shift, .alt, .super]) else { return false }
        switch press.key {
        case GDK_KEY_Left, GDK_KEY_KP_Left: return seek(forward: widget.isRightToLeft)
        case GDK_KEY_Right, GDK_KEY_KP_Right: return seek(forward: !widget.isRightToLeft)
        default: return false
        }
    }

    /// - Returns: `false` before it has been played: the key then moves the focus.
    private func seek(forward: Bool) -> Bool {
        guard let stream, stream.isPrepared else { return false }
        let target = stream.position + (forward ? Self.seekStep : -Self.seekStep)
        stream.seek(to: min(max(target, 0), stream.duration))
        return true
    }

    private func showState() {
        guard let stream else { return }
        let isPlaying = stream.isPlaying
        play.iconName = isPlaying ? "media-playback-pause-symbolic" : "media-playback-start-symbolic"
        play.tooltip = isPlaying ? translated("Pause") : translated("Play")
        play.setAccessibleLabel(texts.playButton(file, isPlaying))
        showProgress()
    }

    private func showProgress() {
        guard let stream else { return }
        let (time, length) = (stream.position, stream.duration)
        let isAtEnd = stream.hasEnded
        bars.setPlaybackPosition(isAtEnd || length <= 0 ? 0 : Double(time) / Double(length))
        showTime(isAtEnd ? 0 : Int(time / 1000))
    }

    /// Shows the elapsed time, or the duration at the start.
    private func showTime(_ milliseconds: Int) {
        guard milliseconds > 0 || file.duration != nil else { return time.text = "" }
        time.text = texts.duration(milliseconds > 0 ? milliseconds : file.duration ?? 0)
    }

    private func fail() {
        guard problem == nil else { return }
        let text = texts.problem(.unplayable)
        problem = text
        time.text = text
        time.wrap = true
        bars.widget.isVisible = false
        play.isVisible = false
        disconnect()
        stream = nil
    }
}
