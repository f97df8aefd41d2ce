import CWebP
import ConfinedDecoding
import PictureDecoding

/// A WebP picture, moving or not.
struct WebPPicture {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any PictureSink) throws(PictureFailure) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var features = WebPBitstreamFeatures()
        guard WebPGetFeatures(start, bytes.count, &features) == VP8_STATUS_OK else { throw .broken }
        let (width, height) = (Int(features.width), Int(features.height))
        try request.check(width: width, height: height)
        let isAnimated = features.has_animation != 0
        let orientation = isAnimated ? .upright : part("EXIF", flag: 0x08).map { Orientation(exif: $0) } ?? .upright
        let size = orientation.size(width, height)
        try sink.tell(width: size.width, height: size.height, isAnimated: isAnimated)
        guard request.mode != .size else { return }
        let profile = part("ICCP", flag: 0x20)
        if isAnimated { return try play(width, height, profile, request, to: sink) }
        try sink.beginFrame()
        let shown = request.shownSize(width: width, height: height)
        let pixels = try PixelMemory(shown.width * shown.height)
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { throw .stopped }
        config.options.use_scaling = shown == (width, height) ? 0 : 1
        config.options.scaled_width = Int32(shown.width)
        config.options.scaled_height = Int32(shown.height)
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA = WebPRGBABuffer(
            rgba: pixels.bytes, stride: Int32(shown.width * 4), size: pixels.count * 4)
        switch WebPDecode(start, bytes.count, &config) {
        case VP8_STATUS_OK: break
        case VP8_STATUS_OUT_OF_MEMORY: throw .stopped
        default: throw .broken
        }
        ColorProfile.convert(pixels, by: profile)
        let upright = try orientation.applied(to: pixels, width: shown.width, height: shown.height)
        let (seenWidth, seenHeight) = orientation.size(shown.width, shown.height)
        try sink.show(upright.raw, width: seenWidth, height: seenHeight, delay: 0)
    }

    private func play(
        _ width: Int, _ height: Int, _ profile: UnsafeRawBufferPointer?, _ request: DecodingRequest,
        to sink: any PictureSink
    ) throws(PictureFailure) {
        var data = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw .broken }
        defer { WebPAnimDecoderDelete(decoder) }
        var info = WebPAnimInfo()
        // The canvas may be said to be larger than the first bytes did.
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0, info.canvas_width == width, info.canvas_height == height
        else { throw .broken }
        let shown = request.shownSize(width: width, height: height)
        var loops = 0
        while info.loop_count == 0 || loops < Int(info.loop_count) {
            var shownAt: Int32 = 0
            var count = 0
            while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
                try sink.beginFrame()
                var (pixels, endsAt): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
                guard WebPAnimDecoderGetNext(decoder, &pixels, &endsAt) != 0, let pixels else { throw .broken }
                let still = try Still((width, height), shown: shown, hasAlpha: true)
                for line in 0..<height { still.take(pixels + line * width * 4) }
                let delay = min(max(Int(endsAt) - Int(shownAt), 20), 60_000)
                try still.finish(sink, delay: delay) { ColorProfile.convert($0, by: profile) }
                shownAt = endsAt
                count += 1
                if request.mode == .still { return }
            }
            if count == 0 { throw .broken }
            if count == 1 { return }
            WebPAnimDecoderReset(decoder)
            loops += 1
        }
    }

    /// What the file says of itself, and tells in its head that it does.
    private func part(_ name: StaticString, flag: UInt8) -> UnsafeRawBufferPointer? {
        guard bytes.count > 20, bytes[12..<16].elementsEqual(Array("VP8X".utf8)), bytes[20] & flag != 0 else {
            return nil
        }
        // Parts lie one after the other: a name, a length, and what it says, filled up to an even length.
        let reader = ByteReader(bytes)
        var place = 12
        while let length = reader.little(4, at: place + 4), length <= bytes.count - place - 8 {
            let content = UnsafeRawBufferPointer(rebasing: bytes[place + 8..<place + 8 + length])
            if name.withUTF8Buffer({ bytes[place..<place + 4].elementsEqual($0) }) { return content }
            place += 8 + length + length % 2
        }
        return nil
    }
}
