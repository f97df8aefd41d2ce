import CPng
import ConfinedDecoding
import PictureDecoding

/// A PNG; of a moving one the still that it is to programs that know no such thing.
struct PNGPicture {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any PictureSink) throws(PictureFailure) {
        guard let picture = shim_png_open(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) else {
            throw .broken
        }
        defer { shim_png_close(picture) }
        let told = picture.pointee
        let (width, height) = (Int(told.width), Int(told.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(exif: UnsafeRawBufferPointer(start: told.exif, count: Int(told.exif_count)))
        let size = orientation.size(width, height)
        try sink.tell(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.beginFrame()
        let passes = shim_png_start(picture)
        guard passes > 0 else { throw .broken }
        let still = try Still(
            (width, height), shown: request.shownSize(width: width, height: height), hasAlpha: told.has_alpha != 0)
        if passes == 1 {
            let line = try PixelMemory(width)
            for _ in 0..<height {
                guard shim_png_lines(picture, line.bytes, 1) == 0 else { throw .broken }
                still.take(line.bytes)
            }
        } else {
            let all = try PixelMemory(width * height)
            for _ in 0..<passes {
                guard shim_png_lines(picture, all.bytes, UInt32(height)) == 0 else { throw .broken }
            }
            for line in 0..<height { still.take(all.bytes + line * width * 4) }
        }
        let profile = told.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(told.profile_count)) }
        try still.finish(sink, orientation: orientation) { ColorProfile.convert($0, by: profile) }
    }
}
