import CTiff
import ConfinedDecoding
import MediaDecoding

/// The first image of a TIFF file.
struct TIFFImage {
    private let library: shim_tiff_library
    private let bytes: UnsafeRawBufferPointer

    init(_ library: shim_tiff_library, _ bytes: UnsafeRawBufferPointer) {
        self.library = library
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any ImageSink) throws(ImageFailure) {
        var library = library
        guard
            let image = shim_tiff_open(
                &library, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        else { throw .broken }
        defer { shim_tiff_close(&library, image) }
        let header = image.pointee
        let (width, height) = (Int(header.width), Int(header.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(number: Int(header.orientation))
        let size = orientation.size(width, height)
        try sink.reportInfo(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.startFrame()
        let all = try PixelMemory(width * height)
        guard shim_tiff_pixels(&library, image, all.whole) == 0 else { throw .broken }
        let hasAlpha = header.has_alpha != 0
        if hasAlpha { all.divideByAlpha() }
        let still = try Still(
            (width, height), displaySize: request.displaySize(width: width, height: height), hasAlpha: hasAlpha)
        for line in 0..<height { still.append(all.bytes + line * width * 4) }
        let profile = header.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(header.profile_count)) }
        try still.finish(sink, orientation: orientation) { ColorProfile.convert($0, by: profile) }
    }
}
