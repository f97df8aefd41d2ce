import CHeif
import CLcms
import ConfinedDecoding
import Glibc
import PictureDecoding

/// The first picture of an AVIF or HEIC file, which libheif turns itself.
struct HEIFPicture {
    private let library: shim_heif_library
    private let bytes: UnsafeRawBufferPointer

    init(_ library: shim_heif_library, _ bytes: UnsafeRawBufferPointer) {
        self.library = library
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any PictureSink) throws(PictureFailure) {
        var (library, picture) = (library, shim_heif())
        defer { shim_heif_close(&library, &picture) }
        try Self.check(
            shim_heif_open(&library, &picture, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
        try request.check(width: Int(picture.width), height: Int(picture.height))
        try sink.tell(width: Int(picture.width), height: Int(picture.height), isAnimated: false)
        guard request.mode != .size else { return }
        try sink.beginFrame()
        try Self.check(shim_heif_decode(&library, &picture))
        let (width, height) = (Int(picture.width), Int(picture.height))
        try request.check(width: width, height: height)
        let hasAlpha = picture.has_alpha != 0
        let (stride, channels) = (Int(picture.stride), hasAlpha ? 4 : 3)
        guard let pixels = picture.pixels, stride >= width * channels else { throw .broken }
        let still = try Still(
            (width, height), shown: request.shownSize(width: width, height: height), hasAlpha: hasAlpha)
        let line = try PixelMemory(width)
        for row in 0..<height {
            let from = pixels + row * stride
            if hasAlpha {
                memcpy(line.bytes, from, width * 4)
                if picture.is_premultiplied != 0 { line.divideByAlpha() }
            } else {
                for column in 0..<width {
                    let (place, target) = (column * 3, column * 4)
                    line.bytes[target] = from[place]
                    line.bytes[target + 1] = from[place + 1]
                    line.bytes[target + 2] = from[place + 2]
                    line.bytes[target + 3] = 255
                }
            }
            still.take(line.bytes)
        }
        try still.finish(sink) { convert($0, picture) }
    }

    private func convert(_ pixels: PixelMemory, _ picture: shim_heif) {
        if let profile = picture.profile, picture.profile_count > 0 {
            return ColorProfile.convert(
                pixels, by: UnsafeRawBufferPointer(start: profile, count: picture.profile_count))
        }
        var count: UInt32 = 0
        guard let made = shim_profile_of_primaries(picture.primaries, &count) else { return }
        defer { free(made) }
        ColorProfile.convert(pixels, by: UnsafeRawBufferPointer(start: made, count: Int(count)))
    }

    private static func check(_ result: shim_heif_result) throws(PictureFailure) {
        switch result {
        case shim_heif_ok: return
        case shim_heif_unknown: throw .unknownFormat
        case shim_heif_stopped: throw .stopped
        default: throw .broken
        }
    }
}
