import CJpeg
import ConfinedDecoding
import Glibc
import MediaDecoding

/// A JPEG, decoded at a reduced scale where that suffices.
struct JPEGImage {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        var header = shim_jpeg_header()
        guard
            let image = shim_jpeg_open(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count, &header)
        else { throw .broken }
        defer {
            free(header.profile)
            shim_jpeg_close(image)
        }
        let (width, height) = (Int(header.width), Int(header.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(exif: UnsafeRawBufferPointer(start: header.exif, count: header.exif_count))
        let size = orientation.size(width, height)
        try sink.reportInfo(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.startFrame()
        let displaySize = request.displaySize(width: width, height: height)
        var (decodedWidth, decodedHeight): (UInt32, UInt32) = (0, 0)
        guard
            shim_jpeg_start(
                image, Self.denominator(width, height, displaySize), &decodedWidth, &decodedHeight) == 0
        else { throw .broken }
        let decoded = (width: Int(decodedWidth), height: Int(decodedHeight))
        let still = try Still(decoded, displaySize: displaySize, hasAlpha: false)
        let line = try PixelMemory(decoded.width)
        for _ in 0..<decoded.height {
            guard shim_jpeg_line(image, line.bytes) == 0 else { throw .broken }
            still.append(line.bytes)
        }
        let profile = header.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(header.profile_count)) }
        try still.finish(sink, orientation: orientation) { pixels in
            if header.is_cmyk == 0 {
                ColorProfile.convert(pixels, by: profile)
            } else {
                ColorProfile.convert(pixels, of: header.is_inverted != 0 ? .inverted : .usual, by: profile)
            }
        }
    }

    /// Returns the largest denominator of the decoding scale that still has all displayed pixels.
    private static func denominator(_ width: Int, _ height: Int, _ displaySize: (width: Int, height: Int)) -> Int32 {
        let fitting = [8, 4, 2].first {
            (width + $0 - 1) / $0 >= displaySize.width && (height + $0 - 1) / $0 >= displaySize.height
        }
        return Int32(fitting ?? 1)
    }
}
