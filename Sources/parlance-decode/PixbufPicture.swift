import CPixbuf
import ConfinedDecoding
import PictureDecoding

/// A picture of a kind that gdk-pixbuf reads.
final class PixbufPicture {
    private let request: DecodingRequest
    private let loader: UnsafeMutablePointer<GdkPixbufLoader>
    private let mayMove: Bool
    private var wasTold = false

    init?(_ request: DecodingRequest, format: String) {
        guard let loader = gdk_pixbuf_loader_new_with_type(format, nil) else { return nil }
        self.request = request
        self.loader = loader
        mayMove = format == "gif"
        let prepared: @convention(c) (gpointer, gint, gint, gpointer) -> Void = { _, width, height, data in
            Unmanaged<PixbufPicture>.fromOpaque(data).takeUnretainedValue().sizeIsKnown(Int(width), Int(height))
        }
        let area: @convention(c) (gpointer, gpointer) -> Void = { _, data in
            Unmanaged<PixbufPicture>.fromOpaque(data).takeUnretainedValue().firstPixelsAreThere()
        }
        // Lives as long as the process.
        let own = Unmanaged.passRetained(self).toOpaque()
        let object = UnsafeMutableRawPointer(loader)
        _ = shim_connect(object, "size-prepared", unsafeBitCast(prepared, to: GCallback.self), own)
        _ = shim_connect(object, "area-prepared", unsafeBitCast(area, to: GCallback.self), own)
    }

    func decode(_ source: inout ByteInput) -> Never {
        while let piece = source.next() {
            guard gdk_pixbuf_loader_write(loader, piece, gsize(piece.count), nil) != 0 else {
                RecordOutput.fail(.broken)
            }
        }
        guard gdk_pixbuf_loader_close(loader, nil) != 0, let movie = gdk_pixbuf_loader_get_animation(loader) else {
            RecordOutput.fail(.broken)
        }
        if gdk_pixbuf_animation_is_static_image(movie) == 0, request.mode == .play { play(movie) }
        guard let still = gdk_pixbuf_animation_get_static_image(movie),
            let upright = gdk_pixbuf_apply_embedded_orientation(still)
        else { RecordOutput.fail(.broken) }
        tellInfo(isAnimated: gdk_pixbuf_animation_is_static_image(movie) == 0)
        RecordOutput.send(upright, for: request, delay: 0)
        RecordOutput.end()
    }

    private var stored = (width: 0, height: 0)

    private func sizeIsKnown(_ width: Int, _ height: Int) {
        stored = (width, height)
        guard width > 0, height > 0 else { RecordOutput.fail(.broken) }
        guard width <= 1 << 20, height <= 1 << 20, width * height <= PictureLimits.pixels else {
            RecordOutput.fail(.tooLarge)
        }
        let shown = request.shownSize(width: width, height: height)
        // JPEG's loader leaves out what a smaller size does not need. Moving pictures are made smaller frame by frame.
        if !mayMove { gdk_pixbuf_loader_set_size(loader, gint(shown.width), gint(shown.height)) }
    }

    private func firstPixelsAreThere() {
        guard request.mode == .size else { return }
        tellInfo(isAnimated: false)
        RecordOutput.end()
    }

    private func tellInfo(isAnimated: Bool) {
        guard !wasTold else { return }
        wasTold = true
        let orientation = gdk_pixbuf_loader_get_pixbuf(loader).flatMap { gdk_pixbuf_get_option($0, "orientation") }
        let isTurned = orientation.map { ["5", "6", "7", "8"].contains(String(cString: $0)) } ?? false
        RecordOutput.send(
            .info(
                width: isTurned ? stored.height : stored.width, height: isTurned ? stored.width : stored.height,
                isAnimated: isAnimated))
    }

    /// Its own time goes as fast as frames are taken.
    private func play(_ movie: OpaquePointer) -> Never {
        tellInfo(isAnimated: true)
        var time: gint64 = 0
        guard let iterator = shim_movie_start(movie) else { RecordOutput.fail(.broken) }
        while true {
            Confinement.allowTime()
            guard let frame = gdk_pixbuf_animation_iter_get_pixbuf(iterator) else { RecordOutput.fail(.broken) }
            let delay = gdk_pixbuf_animation_iter_get_delay_time(iterator)
            RecordOutput.send(frame, for: request, delay: delay < 0 ? 0 : min(max(Int(delay), 20), 60_000))
            if delay < 0 { RecordOutput.end() }
            time += gint64(max(delay, 20))
            shim_movie_advance(iterator, time)
        }
    }
}
