import CHeif
import CLcms
import ConfinedDecoding
import Glibc
import MediaDecoding

/// The primary image of an AVIF or HEIC file. libheif applies the orientation itself.
struct HEIFImage {
    private let library: shim_heif_library
    private let bytes: UnsafeRawBufferPointer

    init(_ library: shim_heif_library, _ bytes: UnsafeRawBufferPointer) {
        self.library = library
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        var (library, image) = (library, shim_heif())
        defer { shim_heif_close(&library, &image) }
        try Self.check(
            shim_heif_open(&library, &image, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count))
        try request.check(width: Int(image.width), height: Int(image.height))
        try sink.reportInfo(width: Int(image.width), height: Int(image.height), isAnimated: false)
        guard request.mode != .size else { return }
        try sink.startFrame()
        try Self.check(shim_heif_decode(&library, &image))
        let (width, height) = (Int(image.width), Int(image.height))
        try request.check(width: width, height: height)
        let hasAlpha = image.has_alpha != 0
        let (stride, channels) = (Int(image.stride), hasAlpha ? 4 : 3)
        guard let pixels = image.pixels, stride >= width * channels else { throw .broken }
        let still = try Still(
            (width, height), displaySize: request.displaySize(width: width, height: height), hasAlpha: hasAlpha)
        let line = try PixelMemory(width)
        for row in 0..<height {
            let from = pixels + row * stride
            if hasAlpha {
                memcpy(line.bytes, from, width * 4)
                if image.is_premultiplied != 0 { line.divideByAlpha() }
            } else {
                for column in 0..<width {
                    let (source, target) = (column * 3, column * 4)
                    line.bytes[target] = from[source]
                    line.bytes[target + 1] = from[source + 1]
                    line.bytes[target + 2] = from[source + 2]
                    line.bytes[target + 3] = 255
                }
            }
            still.append(line.bytes)
        }
        try still.finish(sink) { convert($0, image) }
    }

    private func convert(_ pixels: PixelMemory, _ image: shim_heif) {
        if let profile = image.profile, image.profile_count > 0 {
            return ColorProfile.convert(
                pixels, by: UnsafeRawBufferPointer(start: profile, count: image.profile_count))
        }
        var count: UInt32 = 0
        guard let made = shim_profile_of_primaries(image.primaries, &count) else { return }
        defer { free(made) }
        ColorProfile.convert(pixels, by: UnsafeRawBufferPointer(start: made, count: Int(count)))
    }

    private static func check(_ result: shim_heif_result) throws(ImageFailure) {
        switch result {
        case shim_heif_ok: return
        case shim_heif_unknown: throw .unknownFormat
        case shim_heif_stopped: throw .stopped
        default: throw .broken
        }
    }
}
