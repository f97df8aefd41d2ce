import CGtk
package import ChatCore
import Foundation
package import GtkKit

/// A voice message: play button, waveform and duration.
@MainActor package final class VoiceMessageView {
    package let widget: Widget
    let play: Button
    let bars: WaveformView
    /// Why it cannot be played, as displayed to the user.
    private(set) var problem: String?
    private(set) var stream: Object?
    private let file: MediaReference
    private let time = Label()
    private weak var media: MediaPresenter?

    package init(_ file: MediaReference, _ media: MediaPresenter) {
        self.file = file
        self.media = media
        let row = Box(.horizontal, spacing: 9)
        row.addStyle("message-voice")
        widget = row
        play = FileCard.button("media-playback-start-symbolic", translated("Play"), file)
        let drawing = WaveformView.make()
        guard let bars = WaveformView.of(drawing) else { fatalError("ParlanceLoudnessBars has no implementation") }
        self.bars = bars
        bars.show(file.loudness ?? [])
        drawing.setAccessibleLabel(translated("Voice Message"))
        for style in ["caption", "dim-label", "numeric"] { time.addStyle(style) }
        let save = FileCard.button("document-save-symbolic", translated("Save"), file)
        for child in [play, drawing, time, save] { row.append(child) }
        showTime(0)
        play.onClick { [weak self] in self?.toggle() }
        bars.onSeek = { [weak self] in self?.seek(to: $0) }
        save.onClick { [weak self] in
            if let self { self.media?.save(self.file, over: widget) }
        }
        row.connect("unmap") { [weak self] _ in self?.pause() }
    }

    isolated deinit { pause() }

    private func pause() {
        if let stream { gtk_media_stream_pause(stream.cast()) }
    }

    private func toggle() {
        if let stream {
            gtk_media_stream_set_playing(stream.cast(), gtk_media_stream_get_playing(stream.cast()) == 0 ? 1 : 0)
        } else {
            play.isSensitive = false
            media?.withContent(of: file) { [weak self] in
                self?.start($0)
            } onFailure: { [weak self] in
                self?.play.isSensitive = true
            }
        }
    }

    private func start(_ content: URL) {
        play.isSensitive = true
        let stream = VideoStream.open(content, fitting: 1, by: 1)
        self.stream = stream
        stream.connect("notify::error") { [weak self] _ in self?.fail() }
        stream.connect("notify::timestamp") { [weak self] _ in self?.showProgress() }
        stream.connect("notify::playing") { [weak self] _ in self?.showState() }
        // If it has been unmapped meanwhile, nothing would pause it later.
        if widget.isMapped { gtk_media_stream_play(stream.cast()) }
        if gtk_media_stream_get_error(stream.cast()) != nil { fail() }
    }

    private func seek(to position: Double) {
        guard let stream, gtk_media_stream_is_prepared(stream.cast()) != 0 else { return }
        gtk_media_stream_seek(stream.cast(), gint64(position * Double(gtk_media_stream_get_duration(stream.cast()))))
    }

    private func showState() {
        guard let stream else { return }
        let isPlaying = gtk_media_stream_get_playing(stream.cast()) != 0
        gtk_button_set_icon_name(
            play.cast(), isPlaying ? "media-playback-pause-symbolic" : "media-playback-start-symbolic")
        play.setAccessibleLabel("\(isPlaying ? translated("Pause") : translated("Play")) \(file.name)")
        showProgress()
    }

    private func showProgress() {
        guard let stream else { return }
        let (time, length) = (
            gtk_media_stream_get_timestamp(stream.cast()), gtk_media_stream_get_duration(stream.cast())
        )
        let isAtEnd = gtk_media_stream_get_ended(stream.cast()) != 0
        bars.setPlaybackPosition(isAtEnd || length <= 0 ? 0 : Double(time) / Double(length))
        showTime(isAtEnd ? 0 : Int(time / 1000))
    }

    /// Shows the elapsed time, or the duration at the start.
    private func showTime(_ milliseconds: Int) {
        guard milliseconds > 0 || file.duration != nil else { return time.text = "" }
        time.text = DurationText.text(milliseconds > 0 ? milliseconds : file.duration ?? 0)
    }

    private func fail() {
        guard problem == nil else { return }
        let text = translated("This can't be played here. Another program may be able to.")
        problem = text
        time.text = text
        gtk_label_set_wrap(time.cast(), 1)
        bars.widget.isVisible = false
        play.isVisible = false
        stream = nil
    }
}
