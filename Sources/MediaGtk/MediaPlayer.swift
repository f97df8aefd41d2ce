import CGtk
package import ChatCore
import Foundation
package import GtkKit

/// Plays audio or video within its message; ``VideoStream`` decodes it in a separate process.
///
/// Before the user starts playback, it decodes only a poster frame, and downloads only what the preferences allow.
/// Playback pauses when the widget is unmapped or released, except that of audio with a key.
@MainActor package final class MediaPlayer {
    package let widget: Widget
    let play: Button
    /// Why it cannot be played, as displayed to the user.
    private(set) var problem: String?
    private(set) var stream: MediaStream?
    private let file: MediaReference
    private let audioKey: String?
    /// Retained for its buttons.
    private let card: FileCard
    private let holder = Box(.vertical)
    private let message = Label()
    private let texts: MediaTexts
    /// The frame of a video, sized in advance so that the layout does not move when playback starts.
    private let frame: Widget?
    private let poster = Picture()
    private var loading: Task<Void, Never>?
    /// To the stream, which may outlast many views of it.
    private var failures: SignalConnection?

    private(set) var showsPoster = false
    /// The scale of the window for which the poster was loaded.
    private var posterScale = 1

    /// - Parameters:
    ///   - card: Receives the play button for audio; a video's is on top of its poster.
    ///   - audioKey: Identifies audio in its room, where it goes on while the view is unmapped or replaced; `nil` pauses
    ///   it then.
    package init(_ file: MediaReference, _ media: MediaPresenter, _ card: FileCard, audioKey: String? = nil) {
        self.file = file
        self.audioKey = file.messageKind == .video ? nil : audioKey
        self.card = card
        texts = media.texts
        widget = holder
        play = FileCard.button(
            "media-playback-start-symbolic", translated("Play"), texts.playButton(file, false))
        message.addStyle("message-picture-problem")
        message.wrap = true
        message.xalign = 0
        message.isVisible = false
        frame = file.messageKind == .video ? AspectFrame.make() : nil
        if let frame { holder.append(frame) } else { card.addFirst(play) }
        holder.append(message)
        holder.isVisible = frame != nil
        play.onClick { [weak self, weak media] in
            guard let self, let media else { return }
            let hasFocus = play.isFocus
            let resume = play.suspend()
            media.withContent(of: file) { [weak self, weak media] in
                self?.start($0, media, movesFocus: hasFocus)
            } onFailure: {
                resume()
            }
        }
        holder.onUnmap { [weak self] _ in self?.pause() }
        if frame != nil {
            makeStill()
            showPoster(media)
            // Before it is in a window, the scale is that of any monitor.
            holder.onMap { [weak self, weak media] _ in
                guard let self, let media, stream == nil, posterScale != widget.scaleFactor else { return }
                loading?.cancel()
                showPoster(media)
            }
        } else {
            loading = Task { [weak media] in _ = await media?.prefetch(file) }
            resumeAudio(media)
        }
    }

    /// Shows the audio again that an earlier view of it has started.
    package func resumeAudio(_ media: MediaPresenter) {
        guard let running = media.stream(ofAudio: audioKey), running !== stream else { return }
        show(running)
        _ = play.suspend()
        for child in holder.children where !child.isSame(as: message) { holder.remove(child) }
        holder.append(controls(of: running))
        holder.isVisible = true
    }

    private func show(_ stream: MediaStream) {
        failures?.disconnect()
        self.stream = stream
        failures = stream.onFailure { [weak self] in self?.fail() }
    }

    private func controls(of stream: MediaStream) -> Widget {
        let controls = MediaControls(stream)
        controls.setSizeRequest(width: 260)
        controls.setAccessibleLabel(file.altText ?? file.name)
        return controls
    }

    isolated deinit {
        loading?.cancel()
        pause()
        failures?.disconnect()
    }

    /// The maximum size of video frames, in device pixels.
    private var box: (width: Int, height: Int) {
        let (size, scale) = (ImageContentView.displaySize(of: file), widget.scaleFactor)
        return (size.width * scale, size.height * scale)
    }

    private func makeStill() {
        guard let frame else { return }
        let size = ImageContentView.displaySize(of: file)
        AspectFrame.of(frame)?.setNaturalSize(width: size.width, height: size.height)
        frame.halign = .start
        frame.addStyle("message-picture")
        frame.addStyle("message-film")
        frame.overflow = .hidden
        let overlay = Overlay()
        overlay.setChild(poster)
        play.removeStyle("flat")
        for style in ["osd", "message-film-play"] { play.addStyle(style) }
        play.halign = .center
        overlay.addOverlay(play)
        AspectFrame.of(frame)?.setChild(overlay)
    }

    private func showPoster(_ media: MediaPresenter) {
        posterScale = widget.scaleFactor
        let box = box
        let ready = showsPoster ? nil : media.previews.cachedPlaceholder(of: file)
        if let ready { poster.paintable = ready.paintable }
        let needsPlaceholder = ready == nil && !showsPoster
        loading = Task { [weak self, weak media, file] in
            if needsPlaceholder, let drawn = await media?.previews.placeholder(of: file), !Task.isCancelled {
                self.map { $0.poster.paintable = drawn.paintable }
            }
            if let still = await media?.poster(of: file, fitting: box) { self?.show(still) }
            guard await media?.prefetch(file) == true, !Task.isCancelled, self?.showsPoster == false else { return }
            // The video has been downloaded, so a frame of it can serve as poster.
            if let still = await media?.poster(of: file, fitting: box) { self?.show(still) }
        }
    }

    private func show(_ still: DecodedImage) {
        guard !Task.isCancelled else { return }
        showsPoster = true
        poster.paintable = still.paintable
    }

    private func pause() {
        if audioKey == nil, let stream { stream.pause() }
    }

    private func start(_ content: URL, _ media: MediaPresenter?, movesFocus: Bool) {
        let box = box
        let stream = VideoStream.open(content, fitting: box.width, by: box.height)
        show(stream)
        media?.follow(stream, as: audioKey)
        let controls: Widget
        if let frame {
            let video = VideoView(stream)
            video.setAccessibleLabel(file.altText ?? file.name)
            addKeys(to: video, stream)
            for child in frame.children { child.unparent() }
            AspectFrame.of(frame)?.setChild(video)
            controls = video
        } else {
            controls = self.controls(of: stream)
            holder.append(controls)
        }
        holder.isVisible = true
        // The button that had it is insensitive or gone.
        if movesFocus, let root = holder.root, root.focus == nil, !controls.grabFocus() {
            _ = controls.moveFocus(.forward)
        }
        // If it has been unmapped meanwhile, nothing would pause it later.
        if widget.isMapped { stream.play() }
        if stream.hasFailed { fail() }
    }

    /// The video's own controls appear only for the pointer.
    private func addKeys(to video: VideoView, _ stream: MediaStream) {
        video.isFocusable = true
        let keys = KeyController()
        keys.onPress { [weak stream] press in
            guard let stream, press.modifiers.isDisjoint(with: [.control, .shift, .alt, .super]) else { return false }
            switch press.key {
            case GDK_KEY_space, GDK_KEY_KP_Space, GDK_KEY_Return, GDK_KEY_KP_Enter:
                stream.isPlaying = !stream.isPlaying
                return true
            default: return false
            }
        }
        video.addController(keys)
    }

    private func fail() {
        guard problem == nil else { return }
        let text = texts.problem(.unplayable)
        problem = text
        message.text = text
        message.isVisible = true
        holder.isVisible = true
        for child in holder.children where !child.isSame(as: message) { holder.remove(child) }
        failures?.disconnect()
        failures = nil
        stream = nil
    }
}
