import CJpeg
import ConfinedDecoding
import Glibc
import PictureDecoding

/// A JPEG. What a smaller size does not need is not decoded.
struct JPEGPicture {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any PictureSink) throws(PictureFailure) {
        var told = shim_jpeg_header()
        guard
            let picture = shim_jpeg_open(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &told)
        else { throw .broken }
        defer {
            free(told.profile)
            shim_jpeg_close(picture)
        }
        let (width, height) = (Int(told.width), Int(told.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(exif: UnsafeRawBufferPointer(start: told.exif, count: told.exif_count))
        let size = orientation.size(width, height)
        try sink.tell(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.beginFrame()
        let shown = request.shownSize(width: width, height: height)
        var (decodedWidth, decodedHeight): (UInt32, UInt32) = (0, 0)
        guard
            shim_jpeg_start(
                picture, Self.denominator(width, height, shown), &decodedWidth, &decodedHeight) == 0
        else { throw .broken }
        let decoded = (width: Int(decodedWidth), height: Int(decodedHeight))
        let still = try Still(decoded, shown: shown, hasAlpha: false)
        let line = try PixelMemory(decoded.width)
        for _ in 0..<decoded.height {
            guard shim_jpeg_line(picture, line.bytes) == 0 else { throw .broken }
            still.take(line.bytes)
        }
        let profile = told.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(told.profile_count)) }
        try still.finish(sink, orientation: orientation) { pixels in
            if told.is_cmyk == 0 {
                ColorProfile.convert(pixels, by: profile)
            } else {
                ColorProfile.convert(pixels, of: told.is_inverted != 0 ? .inverted : .usual, by: profile)
            }
        }
    }

    /// The smallest part of the size that has all the pixels that are shown.
    private static func denominator(_ width: Int, _ height: Int, _ shown: (width: Int, height: Int)) -> Int32 {
        let fitting = [8, 4, 2].first {
            (width + $0 - 1) / $0 >= shown.width && (height + $0 - 1) / $0 >= shown.height
        }
        return Int32(fitting ?? 1)
    }
}
