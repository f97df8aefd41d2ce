import CGtk
public import Foundation
import MediaDecoding

/// A video or audio file as a GtkMediaStream for GTK's media controls. Untrusted files are decoded in a sandboxed
/// process (``VideoLimits``) and played here.
public final class VideoStream {
    /// The GObject that owns this instance.
    private let pointer: UnsafeMutableRawPointer
    private var path = ""
    private var box = (width: 1, height: 1)
    private var media: VideoFeed.Media?
    private var feed: VideoFeed?
    private var audioPlayer: AudioPlayer?
    private var clock = VideoClock(at: 0)
    private(set) var image: DecodedImage?
    private var ticking: Timeout?
    /// Whether it wakes the program up, now or once it has read more.
    var isActive: Bool { ticking != nil || needsFrame }
    /// Whether to show the next frame regardless of its timestamp, as after a seek.
    private var needsFrame = true
    /// The latest seek target in milliseconds, queued while a previous seek is in progress.
    private var nextSeek: Int?
    private var isPlaying = false
    private var volume = 1.0

    init(_ pointer: UnsafeMutableRawPointer) { self.pointer = pointer }

    isolated deinit { end() }

    /// Opens a file.
    /// - Parameter width: The width of the box that frames must fit in, in pixels.
    public static func open(_ file: URL, fitting width: Int, by height: Int) -> MediaStream {
        let object = MediaStream(owning: shim_object_new(VideoStreamType.type))
        if let stream = VideoStreamType.stream(of: object.pointer) {
            stream.path = file.path
            stream.box = (width, height)
            stream.start(at: 0)
        }
        return object
    }

    private var stream: OpaquePointer { OpaquePointer(pointer) }
    private func cast() -> UnsafeMutablePointer<GtkMediaStream> { pointer.assumingMemoryBound(to: GtkMediaStream.self) }

    // MARK: GtkMediaStream

    func play() {
        if gtk_media_stream_get_ended(cast()) != 0 { start(at: 0) }
        isPlaying = true
        audioPlayer?.play()
        // Not at once: to GTK, a stream that ends within this call plays on.
        ticking = Timeout(after: .zero) { [weak self] in self?.tick() }
    }

    func pause() {
        isPlaying = false
        audioPlayer?.pause()
        clock.stop()
        if !needsFrame { ticking = nil }
    }

    /// - Parameter time: The position in milliseconds.
    func seek(to time: Int) {
        if needsFrame, feed?.failure == nil, feed?.isExhausted == false {
            nextSeek = time
        } else {
            start(at: time)
        }
        gtk_media_stream_update(cast(), gint64(time) * 1000)
        gtk_media_stream_seek_success(cast())
    }

    func setVolume(_ volume: Double) {
        self.volume = volume
        audioPlayer?.setVolume(volume)
    }

    /// In pixels; zero for audio and until the stream is prepared.
    var size: (width: Int, height: Int) { (media?.width ?? 0, media?.height ?? 0) }

    func draw(_ snapshot: OpaquePointer?, _ width: Double, _ height: Double) {
        guard let image, let snapshot else { return }
        let texture = image.paintable
        gdk_paintable_snapshot(texture.cast(), snapshot, width, height)
    }

    // MARK: Decoder process

    private func start(at time: Int) {
        end()
        clock = VideoClock(at: time)
        needsFrame = true
        nextSeek = nil
        let feed = VideoFeed(path, fitting: box.width, by: box.height, from: time)
        self.feed = feed
        feed.start { [weak self, weak feed] in
            if let self, let feed, feed === self.feed { self.feedChanged(feed) }
        }
    }

    private func end() {
        ticking = nil
        feed?.stop()
        audioPlayer?.stop()
        (feed, audioPlayer) = (nil, nil)
    }

    /// Called when the media properties are known, and again when reading has ended.
    private func feedChanged(_ feed: VideoFeed) {
        if let failure = feed.failure, media == nil || (needsFrame && !feed.hasFrames && !feed.hasAudio) {
            return fail(failure)
        }
        guard let media = feed.media else { return }
        if media.hasAudio, audioPlayer == nil {
            let audioPlayer = AudioPlayer(feed, clock)
            self.audioPlayer = audioPlayer
            audioPlayer.setVolume(volume)
            if isPlaying { audioPlayer.play() }
        }
        if self.media == nil {
            self.media = media
            gtk_media_stream_stream_prepared(
                cast(), media.hasAudio ? 1 : 0, media.width > 0 ? 1 : 0, 1, gint64(media.duration) * 1000)
            gdk_paintable_invalidate_size(stream)
        }
        tick()
    }

    private func fail(_ failure: ImageFailure) {
        end()
        // Not shown to the user: the view has its own error text.
        let error = g_error_new_literal(g_quark_from_string("parlance-film"), gint(failure.rawValue), "not played")
        gtk_media_stream_gerror(cast(), error)
    }

    // MARK: Playback clock

    private func tick() {
        guard let feed, let media else {
            ticking = nil
            return
        }
        let hasVideo = media.width > 0
        // Behind the last frame none comes.
        if needsFrame, hasVideo ? feed.hasFrames || feed.lacksFrames : feed.hasAudio || feed.isExhausted {
            needsFrame = false
            if let first = feed.firstFrame() { show(first) }
            if let nextSeek { return start(at: nextSeek) }
        }
        // Otherwise, the audible sound does.
        if isPlaying, !needsFrame, audioPlayer?.isDone ?? !media.hasAudio { clock.run() }
        if isPlaying, clock.isRunning {
            let position = clock.position
            if let due = feed.frame(at: position) { show(due) }
            gtk_media_stream_update(cast(), gint64(min(max(position, 0), Double(max(media.duration, 1)))) * 1000)
        }
        let isOver = !feed.isUnheard || clock.position >= Double(media.duration)
        if feed.isExhausted, audioPlayer?.isDone ?? true, isOver, isPlaying { return finish() }
        guard isPlaying || needsFrame else {
            ticking = nil
            return
        }
        // Roughly one frame at 60 Hz; audio controls update less often.
        ticking = Timeout(after: .milliseconds(hasVideo ? 15 : 100)) { [weak self] in self?.tick() }
    }

    private func finish() {
        ticking = nil
        isPlaying = false
        clock.stop()
        if let media { gtk_media_stream_update(cast(), gint64(media.duration) * 1000) }
        gtk_media_stream_stream_ended(cast())
    }

    private func show(_ image: DecodedImage) {
        self.image = image
        gdk_paintable_invalidate_contents(stream)
    }
}
