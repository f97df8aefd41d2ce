import CGtk

/// Audio or video that can be played.
public final class MediaStream: Object {
    public var isPlaying: Bool {
        get { gtk_media_stream_get_playing(cast()) != 0 }
        set { gtk_media_stream_set_playing(cast(), newValue ? 1 : 0) }
    }

    /// Whether the duration is known.
    public var isPrepared: Bool { gtk_media_stream_is_prepared(cast()) != 0 }
    public var hasEnded: Bool { gtk_media_stream_get_ended(cast()) != 0 }
    public var hasFailed: Bool { gtk_media_stream_get_error(cast()) != nil }
    /// In microseconds.
    public var position: Int64 { Int64(gtk_media_stream_get_timestamp(cast())) }
    /// In microseconds.
    public var duration: Int64 { Int64(gtk_media_stream_get_duration(cast())) }

    public func play() { isPlaying = true }
    public func pause() { isPlaying = false }
    /// - Parameter position: In microseconds.
    public func seek(to position: Int64) { gtk_media_stream_seek(cast(), gint64(position)) }

    /// Calls `handler` when ``hasFailed`` changes.
    @discardableResult
    public func onFailure(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::error") { _ in handler() }
    }

    /// Calls `handler` when ``position`` changes.
    @discardableResult
    public func onProgress(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::timestamp") { _ in handler() }
    }

    /// Calls `handler` when ``isPlaying`` changes.
    @discardableResult
    public func onPlayingChange(_ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("notify::playing") { _ in handler() }
    }
}

/// A video with overlaid playback controls.
public final class VideoView: Widget {
    public convenience init(_ stream: MediaStream) { self.init(sinking: gtk_video_new_for_media_stream(stream.cast())) }
}

/// Playback controls for a stream.
public final class MediaControls: Widget {
    public convenience init(_ stream: MediaStream) { self.init(sinking: gtk_media_controls_new(stream.cast())) }
}
