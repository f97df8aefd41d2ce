import CPng
import ConfinedDecoding
import MediaDecoding

/// A PNG image. Only the default image of an animated PNG is decoded.
struct PNGImage {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        guard let image = shim_png_open(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) else {
            throw .broken
        }
        defer { shim_png_close(image) }
        let header = image.pointee
        let (width, height) = (Int(header.width), Int(header.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(exif: UnsafeRawBufferPointer(start: header.exif, count: Int(header.exif_count)))
        let size = orientation.size(width, height)
        try sink.reportInfo(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.startFrame()
        let passes = shim_png_start(image)
        guard passes > 0 else { throw .broken }
        let still = try Still(
            (width, height), displaySize: request.displaySize(width: width, height: height),
            hasAlpha: header.has_alpha != 0)
        if passes == 1 {
            let line = try PixelMemory(width)
            for _ in 0..<height {
                let bytes = still.nextLine ?? line.bytes
                guard shim_png_lines(image, bytes, 1) == 0 else { throw .broken }
                still.append(bytes)
            }
        } else {
            let all = try PixelMemory(width * height)
            for _ in 0..<passes {
                guard shim_png_lines(image, all.bytes, UInt32(height)) == 0 else { throw .broken }
            }
            for line in 0..<height { still.append(all.bytes + line * width * 4) }
        }
        let profile = header.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(header.profile_count)) }
        try still.finish(sink, orientation: orientation) { ColorProfile.convert($0, by: profile) }
    }
}
