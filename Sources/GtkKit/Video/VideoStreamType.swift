import CGtk

/// The GType of ``VideoStream``: a GtkMediaStream, and so a GdkPaintable.
enum VideoStreamType {
    private static let quark = g_quark_from_string("parlance-film-stream")

    static let type: GType = {
        var query = GTypeQuery()
        g_type_query(gtk_media_stream_get_type(), &query)
        let type = g_type_register_static_simple(
            gtk_media_stream_get_type(), "ParlanceFilmStream", query.class_size,
            { klass, _ in
                nonisolated(unsafe) let klass = klass
                MainActor.assumeIsolated { VideoStreamType.initialize(klass) }
            }, query.instance_size,
            { instance, _ in
                nonisolated(unsafe) let instance = instance
                MainActor.assumeIsolated { VideoStreamType.attach(instance) }
            }, GTypeFlags(rawValue: 0))
        var info = GInterfaceInfo(
            interface_init: { interface, _ in
                nonisolated(unsafe) let interface = interface
                MainActor.assumeIsolated { VideoStreamType.initializePaintable(interface) }
            }, interface_finalize: nil, interface_data: nil)
        g_type_add_interface_static(type, gdk_paintable_get_type(), &info)
        return type
    }()

    static func stream(of pointer: UnsafeMutableRawPointer?) -> VideoStream? {
        guard let pointer, let peer = g_object_get_qdata(pointer.assumingMemoryBound(to: GObject.self), quark) else {
            return nil
        }
        return Unmanaged<VideoStream>.fromOpaque(peer).takeUnretainedValue()
    }

    private static func attach(_ instance: UnsafeMutablePointer<GTypeInstance>?) {
        guard let instance else { return }
        let pointer = UnsafeMutableRawPointer(instance)
        g_object_set_qdata_full(
            pointer.assumingMemoryBound(to: GObject.self), quark,
            Unmanaged.passRetained(VideoStream(pointer)).toOpaque()
        ) { peer in
            if let peer { Unmanaged<VideoStream>.fromOpaque(peer).release() }
        }
    }

    /// Calls `body` with the stream of a GObject, or returns `none` if it has none.
    private nonisolated static func at<T: Sendable>(
        _ object: UnsafeMutableRawPointer?, _ none: T, _ body: @MainActor (VideoStream) -> T
    ) -> T {
        nonisolated(unsafe) let object = object
        return MainActor.assumeIsolated { VideoStreamType.stream(of: object).map(body) ?? none }
    }

    private static func initialize(_ klass: gpointer?) {
        guard let streamClass = klass?.assumingMemoryBound(to: GtkMediaStreamClass.self) else { return }
        streamClass.pointee.play = { stream in
            VideoStreamType.at(stream, 0) {
                $0.play()
                return 1
            }
        }
        streamClass.pointee.pause = { stream in VideoStreamType.at(stream, ()) { $0.pause() } }
        streamClass.pointee.seek = { stream, time in
            VideoStreamType.at(stream, ()) { $0.seek(to: Int(max(0, time) / 1000)) }
        }
        streamClass.pointee.update_audio = { stream, isMuted, volume in
            VideoStreamType.at(stream, ()) { $0.setVolume(isMuted != 0 ? 0 : volume) }
        }
    }

    private static func initializePaintable(_ interface: gpointer?) {
        guard let paintable = interface?.assumingMemoryBound(to: GdkPaintableInterface.self) else { return }
        paintable.pointee.snapshot = { object, snapshot, width, height in
            nonisolated(unsafe) let snapshot = snapshot
            VideoStreamType.at(object.map { UnsafeMutableRawPointer($0) }, ()) { $0.draw(snapshot, width, height) }
        }
        paintable.pointee.get_intrinsic_width = { object in
            VideoStreamType.at(object.map { UnsafeMutableRawPointer($0) }, 0) { Int32($0.size.width) }
        }
        paintable.pointee.get_intrinsic_height = { object in
            VideoStreamType.at(object.map { UnsafeMutableRawPointer($0) }, 0) { Int32($0.size.height) }
        }
        paintable.pointee.get_current_image = { object in
            nonisolated(unsafe) var image: OpaquePointer?
            VideoStreamType.at(object.map { UnsafeMutableRawPointer($0) }, ()) { stream in
                image =
                    stream.image?.paintable.retained()
                    ?? gdk_paintable_new_empty(Int32(stream.size.width), Int32(stream.size.height))
            }
            return image
        }
    }
}
