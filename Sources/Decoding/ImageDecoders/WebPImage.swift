import CWebP
import ConfinedDecoding
import MediaDecoding

/// A still or animated WebP image.
struct WebPImage {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var features = WebPBitstreamFeatures()
        guard WebPGetFeatures(start, bytes.count, &features) == VP8_STATUS_OK else { throw .broken }
        let (width, height) = (Int(features.width), Int(features.height))
        try request.check(width: width, height: height)
        let isAnimated = features.has_animation != 0
        let orientation = isAnimated ? .upright : chunk("EXIF", flag: 0x08).map { Orientation(exif: $0) } ?? .upright
        let size = orientation.size(width, height)
        try sink.reportInfo(width: size.width, height: size.height, isAnimated: isAnimated)
        guard request.mode != .size else { return }
        let profile = chunk("ICCP", flag: 0x20)
        if isAnimated { return try play(width, height, profile, request, to: sink) }
        try sink.startFrame()
        let displaySize = request.displaySize(width: width, height: height)
        let pixels = try PixelMemory(displaySize.width * displaySize.height)
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else { throw .stopped }
        config.options.use_scaling = displaySize == (width, height) ? 0 : 1
        config.options.scaled_width = Int32(displaySize.width)
        config.options.scaled_height = Int32(displaySize.height)
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.u.RGBA = WebPRGBABuffer(
            rgba: pixels.bytes, stride: Int32(displaySize.width * 4), size: pixels.count * 4)
        switch WebPDecode(start, bytes.count, &config) {
        case VP8_STATUS_OK: break
        case VP8_STATUS_OUT_OF_MEMORY: throw .stopped
        default: throw .broken
        }
        ColorProfile.convert(pixels, by: profile)
        let upright = try orientation.applied(to: pixels, width: displaySize.width, height: displaySize.height)
        let (seenWidth, seenHeight) = orientation.size(displaySize.width, displaySize.height)
        try sink.show(upright.raw, width: seenWidth, height: seenHeight, delay: 0)
    }

    private func play(
        _ width: Int, _ height: Int, _ profile: UnsafeRawBufferPointer?, _ request: DecodingRequest,
        to sink: any ImageSink
    ) throws(ImageFailure) {
        var data = WebPData(bytes: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), size: bytes.count)
        guard let decoder = WebPAnimDecoderNew(&data, nil) else { throw .broken }
        defer { WebPAnimDecoderDelete(decoder) }
        var info = WebPAnimInfo()
        // Reject a file whose canvas size differs from the header's, which was checked.
        guard WebPAnimDecoderGetInfo(decoder, &info) != 0, info.canvas_width == width, info.canvas_height == height
        else { throw .broken }
        let displaySize = request.displaySize(width: width, height: height)
        var loops = 0
        while info.loop_count == 0 || loops < Int(info.loop_count) {
            var startsAt: Int32 = 0
            var count = 0
            while WebPAnimDecoderHasMoreFrames(decoder) != 0 {
                try sink.startFrame()
                var (pixels, endsAt): (UnsafeMutablePointer<UInt8>?, Int32) = (nil, 0)
                guard WebPAnimDecoderGetNext(decoder, &pixels, &endsAt) != 0, let pixels else { throw .broken }
                let still = try Still((width, height), displaySize: displaySize, hasAlpha: true)
                for line in 0..<height { still.append(pixels + line * width * 4) }
                let delay = min(max(Int(endsAt) - Int(startsAt), 20), 60_000)
                try still.finish(sink, delay: delay) { ColorProfile.convert($0, by: profile) }
                startsAt = endsAt
                count += 1
                if request.mode == .still { return }
            }
            if count == 0 { throw .broken }
            if count == 1 { return }
            WebPAnimDecoderReset(decoder)
            loops += 1
        }
    }

    /// Returns a metadata chunk if the VP8X header announces it.
    private func chunk(_ name: StaticString, flag: UInt8) -> UnsafeRawBufferPointer? {
        guard bytes.count > 20, bytes[12..<16].elementsEqual(Array("VP8X".utf8)), bytes[20] & flag != 0 else {
            return nil
        }
        // RIFF chunks: a FourCC, a length, and data padded to an even length.
        let reader = ByteReader(bytes)
        var offset = 12
        while let length = reader.little(4, at: offset + 4), length <= bytes.count - offset - 8 {
            let content = UnsafeRawBufferPointer(rebasing: bytes[offset + 8..<offset + 8 + length])
            if name.withUTF8Buffer({ bytes[offset..<offset + 4].elementsEqual($0) }) { return content }
            offset += 8 + length + length % 2
        }
        return nil
    }
}
