import CGtk
import ChatCore
import Foundation
import GtkKit

/// Plays a sound or a film in its message, by GStreamer through GTK.
///
/// Nothing of the file is read before the user asks for it: players have had holes. It stops when its row shows
/// something else, and when it is out of sight.
final class MediaPlayer {
    let widget: Widget
    let play: Button
    /// Why it is not played, as the reader is told.
    private(set) var problem: String?
    private(set) var stream: Object?
    private let file: MediaReference
    private let holder = Box(.vertical)
    private let message = Label()

    /// Whether GTK has a way of playing at all: its media module is a package of its own.
    private static let isAvailable: Bool = {
        let probe = Object(owning: UnsafeMutableRawPointer(gtk_media_file_new()))
        let none = g_type_from_name("GtkNoMediaFile")
        return none == 0 || shim_is_a(probe.pointer, none) == 0
    }()

    static func plays(_ file: MediaReference) -> Bool {
        (file.messageKind == .audio || file.messageKind == .video) && isAvailable
    }

    /// - Parameter card: gets the button that begins.
    init(_ file: MediaReference, _ media: MediaPresenter, _ card: FileCard) {
        self.file = file
        widget = holder
        play = FileCard.button("media-playback-start-symbolic", translated("Play"), file)
        card.addFirst(play)
        message.addStyle("message-picture-problem")
        gtk_label_set_wrap(message.cast(), 1)
        gtk_label_set_xalign(message.cast(), 0)
        message.isVisible = false
        holder.append(message)
        holder.isVisible = false
        play.onClick { [weak self, weak media] in
            guard let self, let media else { return }
            play.isSensitive = false
            media.withContent(of: file) { [weak self] in self?.begin($0) }
        }
        holder.connect("unmap") { [weak self] _ in self?.pause() }
    }

    isolated deinit { pause() }

    private func pause() {
        if let stream { gtk_media_stream_pause(stream.cast()) }
    }

    private func begin(_ content: URL) {
        let stream = Object(owning: UnsafeMutableRawPointer(gtk_media_file_new_for_filename(content.path)))
        self.stream = stream
        stream.connect("notify::error") { [weak self] _ in self?.fail() }
        let player = file.messageKind == .video ? Self.film(stream, file) : Self.sound(stream)
        player.setAccessibleLabel(file.altText ?? file.name)
        holder.append(player)
        holder.isVisible = true
        gtk_media_stream_play(stream.cast())
        if gtk_media_stream_get_error(stream.cast()) != nil { fail() }
    }

    private func fail() {
        guard problem == nil else { return }
        let text = translated("This can't be played here. Another program may be able to.")
        problem = text
        message.text = text
        message.isVisible = true
        holder.isVisible = true
        for child in holder.children where child.pointer != message.pointer { holder.remove(child) }
        stream = nil
    }

    private static func sound(_ stream: Object) -> Widget {
        let controls = Widget(borrowing: gtk_media_controls_new(stream.cast()))
        gtk_widget_set_size_request(controls.cast(), 260, -1)
        return controls
    }

    private static func film(_ stream: Object, _ file: MediaReference) -> Widget {
        let film = Widget(borrowing: gtk_video_new_for_media_stream(stream.cast()))
        // The place is known before the film is, so that nothing moves when it begins.
        let size = PicturePart.shownSize(of: file)
        gtk_widget_set_size_request(film.cast(), Int32(max(240, size.width)), Int32(max(135, size.height)))
        return film
    }
}
