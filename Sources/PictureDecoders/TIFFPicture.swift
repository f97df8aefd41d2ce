import CTiff
import ConfinedDecoding
import PictureDecoding

/// The first picture of a TIFF file.
struct TIFFPicture {
    private let library: shim_tiff_library
    private let bytes: UnsafeRawBufferPointer

    init(_ library: shim_tiff_library, _ bytes: UnsafeRawBufferPointer) {
        self.library = library
        self.bytes = bytes
    }

    func decode(_ request: DecodingRequest, to sink: any PictureSink) throws(PictureFailure) {
        var library = library
        guard
            let picture = shim_tiff_open(
                &library, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        else { throw .broken }
        defer { shim_tiff_close(&library, picture) }
        let told = picture.pointee
        let (width, height) = (Int(told.width), Int(told.height))
        try request.check(width: width, height: height)
        let orientation = Orientation(number: Int(told.orientation))
        let size = orientation.size(width, height)
        try sink.tell(width: size.width, height: size.height, isAnimated: false)
        guard request.mode != .size else { return }
        try sink.beginFrame()
        let all = try PixelMemory(width * height)
        guard shim_tiff_pixels(&library, picture, all.whole) == 0 else { throw .broken }
        let hasAlpha = told.has_alpha != 0
        if hasAlpha { all.divideByAlpha() }
        let still = try Still(
            (width, height), shown: request.shownSize(width: width, height: height), hasAlpha: hasAlpha)
        for line in 0..<height { still.take(all.bytes + line * width * 4) }
        let profile = told.profile.map { UnsafeRawBufferPointer(start: $0, count: Int(told.profile_count)) }
        try still.finish(sink, orientation: orientation) { ColorProfile.convert($0, by: profile) }
    }
}
