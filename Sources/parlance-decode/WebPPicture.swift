import CPixbuf
import CWebP
import ConfinedDecoding
import PictureDecoding

/// A WebP picture, moving or not.
struct WebPPicture {
    private let request: DecodingRequest

    init(_ request: DecodingRequest) {
        self.request = request
    }

    func decode(_ source: inout ByteInput) -> Never {
        let bytes = source.rest()
        bytes.withUnsafeBufferPointer { decode($0) }
    }

    private func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> Never {
        var features = WebPBitstreamFeatures()
        guard WebPGetFeatures(bytes.baseAddress, bytes.count, &features) == VP8_STATUS_OK, features.width > 0,
            features.height > 0
        else { RecordOutput.fail(.broken) }
        let (width, height) = (Int(features.width), Int(features.height))
        guard width * height <= PictureLimits.pixels else { RecordOutput.fail(.tooLarge) }
        let isAnimated = features.has_animation != 0
        RecordOutput.send(.info(width: width, height: height, isAnimated: isAnimated))
        if request.mode == .size { RecordOutput.end() }
        if isAnimated { play(bytes, width, height) }
        let shown = request.shownSize(width: width, height: height)
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { RecordOutput.fail(.stopped) }
        config.options.use_scaling = shown == (width, height) ? 0 : 1
        config.options.scaled_width = Int32(shown.width)
        config.options.scaled_height = Int32(shown.height)
        config.output.colorspace = MODE_RGBA
        guard WebPDecode(bytes.baseAddress, bytes.count, &config) == VP8_STATUS_OK else { RecordOutput.fail(.broken) }
        send(config.output.u.RGBA.rgba, width: shown.width, height: shown.height, delay: 0)
        RecordOutput.end()
    }

    /// - Parameter pixels: red, green, blue and alpha, line by line.
    private func send(_ pixels: UnsafeMutablePointer<UInt8>?, width: Int, height: Int, delay: Int) {
        guard
            let pixbuf = gdk_pixbuf_new_from_data(
                pixels, GDK_COLORSPACE_RGB, 1, 8, gint(width), gint(height), gint(width * 4), nil, nil)
        else { RecordOutput.fail(.stopped) }
        defer { g_object_unref(UnsafeMutableRawPointer(pixbuf)) }
        RecordOutput.send(pixbuf, for: request, delay: delay)
    }

    private func play(_ bytes: UnsafeBufferPointer<UInt8>, _ width: Int, _ height: Int) -> Never {
        var data = WebPData(bytes: bytes.baseAddress, size: bytes.count)
        guard let decoder = WebPAnimDecoderNew(&data, nil) else { RecordOutput.fail(.broken) }
        var info = WebPAnimInfo()
        // The canvas may be said to be larger than the first bytes did.
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0, info.canvas_width == width, info.canvas_height == height
        else { RecordOutput.fail(.broken) }
        var loops = 0
        while info.loop_count == 0 || loops < Int(info.loop_count) {
            var shownAt: Int32 = 0
            var count = 0
            while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
                Confinement.allowTime()
                var (pixels, endsAt): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
                guard WebPAnimDecoderGetNext(decoder, &pixels, &endsAt) != 0 else { break }
                send(pixels, width: width, height: height, delay: min(max(Int(endsAt) - Int(shownAt), 20), 60_000))
                shownAt = endsAt
                count += 1
                if request.mode == .still { RecordOutput.end() }
            }
            if count == 0 { RecordOutput.fail(.broken) }
            if count == 1 { break }
            WebPAnimDecoderReset(decoder)
            loops += 1
        }
        RecordOutput.end()
    }
}
