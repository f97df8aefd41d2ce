import CPixbuf
import ConfinedDecoding
import Glibc
import PictureDecoding

extension RecordOutput {
    /// Sends a frame in the size that is asked for.
    static func send(_ pixbuf: OpaquePointer, for request: DecodingRequest, delay: Int) {
        let (width, height) = (Int(gdk_pixbuf_get_width(pixbuf)), Int(gdk_pixbuf_get_height(pixbuf)))
        let shown = request.shownSize(width: width, height: height)
        guard shown != (width, height) else { return send(frame: pixbuf, delay: delay) }
        guard let small = gdk_pixbuf_scale_simple(pixbuf, gint(shown.width), gint(shown.height), GDK_INTERP_BILINEAR)
        else { fail(.stopped) }
        send(frame: small, delay: delay)
        g_object_unref(UnsafeMutableRawPointer(small))
    }

    private static func send(frame pixbuf: OpaquePointer, delay: Int) {
        let withAlpha = gdk_pixbuf_get_has_alpha(pixbuf) == 0 ? gdk_pixbuf_add_alpha(pixbuf, 0, 0, 0, 0) : nil
        defer { if let withAlpha { g_object_unref(UnsafeMutableRawPointer(withAlpha)) } }
        let shown = withAlpha ?? pixbuf
        let (width, height) = (Int(gdk_pixbuf_get_width(shown)), Int(gdk_pixbuf_get_height(shown)))
        guard let pixels = gdk_pixbuf_read_pixels(shown) else { fail(.stopped) }
        send(.frame(width: width, height: height, delay: delay))
        let stride = Int(gdk_pixbuf_get_rowstride(shown))
        if stride == width * 4 {
            write(UnsafeRawBufferPointer(start: pixels, count: height * stride))
        } else {
            for line in 0..<height { write(UnsafeRawBufferPointer(start: pixels + line * stride, count: width * 4)) }
        }
    }
}
