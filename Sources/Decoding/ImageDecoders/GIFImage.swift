import CGif
import ConfinedDecoding
import Glibc
import MediaDecoding

/// A still or animated GIF. Frames are decoded when they are displayed and not stored.
final class GIFImage {
    private let request: DecodingRequest
    private let source: UnsafeMutablePointer<Source>
    private var file: UnsafeMutablePointer<GifFileType>?

    /// The state of giflib's read callback.
    private struct Source {
        var bytes: UnsafeRawBufferPointer
        var offset = 0
    }

    init(_ bytes: UnsafeRawBufferPointer, _ request: DecodingRequest) {
        self.request = request
        source = .allocate(capacity: 1)
        source.initialize(to: Source(bytes: bytes))
    }

    deinit {
        close()
        source.deallocate()
    }

    func decode(to sink: any ImageSink) throws(ImageFailure) {
        let file = try open()
        let (width, height) = (Int(file.pointee.SWidth), Int(file.pointee.SHeight))
        try request.check(width: width, height: height)
        let isAnimated = try hasSeveralFrames()
        try sink.reportInfo(width: width, height: height, isAnimated: isAnimated)
        guard request.mode != .size else { return }
        var repetitions: Int? = 0
        var played = 0
        while repetitions.map({ played <= $0 }) ?? true {
            repetitions = try show(width, height, to: sink)
            guard isAnimated, request.mode == .play else { return }
            played += 1
        }
    }

    // MARK: File

    private func open() throws(ImageFailure) -> UnsafeMutablePointer<GifFileType> {
        close()
        source.pointee.offset = 0
        let read: InputFunc = { file, into, count in
            guard let source = file?.pointee.UserData?.assumingMemoryBound(to: Source.self), let into, count > 0 else {
                return 0
            }
            let (bytes, offset) = (source.pointee.bytes, source.pointee.offset)
            let count = min(Int(count), bytes.count - offset)
            if count > 0, let start = bytes.baseAddress { memcpy(into, start + offset, count) }
            source.pointee.offset += count
            return Int32(count)
        }
        guard let openedFile = DGifOpen(source, read, nil) else { throw .broken }
        file = openedFile
        return openedFile
    }

    private func close() {
        if let file { DGifCloseFile(file, nil) }
        file = nil
    }

    /// - Parameter isAfterFrame: Whether a frame has been read: many files lack the trailer.
    private func nextRecord(
        _ file: UnsafeMutablePointer<GifFileType>, isAfterFrame: Bool
    ) throws(ImageFailure) -> GifRecordType {
        if isAfterFrame, source.pointee.offset == source.pointee.bytes.count { return TERMINATE_RECORD_TYPE }
        var record = UNDEFINED_RECORD_TYPE
        guard DGifGetRecordType(file, &record) == GIF_OK else { throw .broken }
        return record
    }

    private func hasSeveralFrames() throws(ImageFailure) -> Bool {
        let file = try open()
        var frames = 0
        while frames < 2 {
            switch try nextRecord(file, isAfterFrame: frames > 0) {
            case IMAGE_DESC_RECORD_TYPE:
                frames += 1
                guard frames < 2 else { break }
                guard DGifGetImageDesc(file) == GIF_OK else { throw .broken }
                try passOverPixels(file)
            case EXTENSION_RECORD_TYPE: _ = try readExtension(file)
            case TERMINATE_RECORD_TYPE: return false
            default: throw .broken
            }
        }
        return true
    }

    /// Skips a frame's pixels.
    /// - Parameter hasStarted: Whether some of them have been read.
    private func passOverPixels(
        _ file: UnsafeMutablePointer<GifFileType>, hasStarted: Bool = false
    ) throws(ImageFailure) {
        var (size, block): (Int32, UnsafeMutablePointer<GifByteType>?) = (0, nil)
        if !hasStarted, DGifGetCode(file, &size, &block) != GIF_OK { throw .broken }
        repeat {
            guard DGifGetCodeNext(file, &block) == GIF_OK else { throw .broken }
        } while block != nil
    }

    /// - Returns: The extension's function code and its data blocks.
    private func readExtension(
        _ file: UnsafeMutablePointer<GifFileType>
    ) throws(ImageFailure) -> (kind: Int32, blocks: [[UInt8]]) {
        var (kind, block): (Int32, UnsafeMutablePointer<GifByteType>?) = (0, nil)
        guard DGifGetExtension(file, &kind, &block) == GIF_OK else { throw .broken }
        let isRelevant = kind == GRAPHICS_EXT_FUNC_CODE || kind == APPLICATION_EXT_FUNC_CODE
        var blocks: [[UInt8]] = []
        while let some = block {
            // Skip comments and unknown extensions.
            if isRelevant, blocks.count < 2 {
                blocks.append(Array(UnsafeBufferPointer(start: some + 1, count: Int(some[0]))))
            }
            guard DGifGetExtensionNext(file, &block) == GIF_OK else { throw .broken }
        }
        return (kind, blocks)
    }

    // MARK: Frames

    /// A frame's graphic control extension.
    private struct Control {
        var disposal: Int32 = DISPOSAL_UNSPECIFIED
        var delay = 100
        var transparent: Int?

        init() {}

        init?(_ block: [UInt8]) {
            var graphicsControl = GraphicsControlBlock()
            guard DGifExtensionToGCB(block.count, block, &graphicsControl) == GIF_OK else { return nil }
            disposal = graphicsControl.DisposalMode
            // In milliseconds. Browsers also use 100 ms for implausibly short delays.
            delay = graphicsControl.DelayTime < 2 ? 100 : min(Int(graphicsControl.DelayTime) * 10, 60_000)
            transparent = graphicsControl.TransparentColor < 0 ? nil : Int(graphicsControl.TransparentColor)
        }
    }

    /// Shows the first frame, or all frames once.
    /// - Returns: The number of repetitions, or `nil` for an infinite loop.
    private func show(_ width: Int, _ height: Int, to sink: any ImageSink) throws(ImageFailure) -> Int? {
        let file = try open()
        let canvas = try GIFCanvas(width: width, height: height)
        let displaySize = request.displaySize(width: width, height: height)
        var repetitions: Int? = 0
        var control = Control()
        var frames = 0
        while true {
            switch try nextRecord(file, isAfterFrame: frames > 0) {
            case IMAGE_DESC_RECORD_TYPE:
                try sink.startFrame()
                guard DGifGetImageDesc(file) == GIF_OK else { throw .broken }
                try draw(file, control, on: canvas)
                let delay = request.mode == .play ? control.delay : 0
                if displaySize == (width, height) {
                    try sink.show(canvas.pixels.raw, width: width, height: height, delay: delay)
                } else {
                    let still = try Still((width, height), displaySize: displaySize, hasAlpha: true)
                    for line in 0..<height { still.append(canvas.pixels.bytes + line * width * 4) }
                    try still.finish(sink, delay: delay)
                }
                frames += 1
                if request.mode == .still { return 0 }
                control = Control()
            case EXTENSION_RECORD_TYPE:
                let (kind, blocks) = try readExtension(file)
                if kind == GRAPHICS_EXT_FUNC_CODE, let newControl = blocks.first.flatMap({ Control($0) }) {
                    control = newControl
                } else if kind == APPLICATION_EXT_FUNC_CODE, let loopCount = Self.repetitions(blocks) {
                    repetitions = loopCount == 0 ? nil : loopCount
                }
            case TERMINATE_RECORD_TYPE:
                guard frames > 0 else { throw .broken }
                return repetitions
            default: throw .broken
            }
        }
    }

    /// - Returns: The loop count of a NETSCAPE2.0 or ANIMEXTS1.0 block, where 0 means an infinite loop.
    private static func repetitions(_ blocks: [[UInt8]]) -> Int? {
        guard blocks.count == 2, blocks[1].count >= 3, blocks[1][0] == 1,
            ["NETSCAPE2.0", "ANIMEXTS1.0"].contains(where: { blocks[0].elementsEqual($0.utf8) })
        else { return nil }
        return Int(blocks[1][1]) | Int(blocks[1][2]) << 8
    }

    private func draw(
        _ file: UnsafeMutablePointer<GifFileType>, _ control: Control, on canvas: GIFCanvas
    ) throws(ImageFailure) {
        let descriptor = file.pointee.Image
        let (width, height) = (Int(descriptor.Width), Int(descriptor.Height))
        let area = GIFCanvas.Area(left: Int(descriptor.Left), top: Int(descriptor.Top), width: width, height: height)
        let disposal: GIFCanvas.Disposal =
            switch control.disposal {
            case DISPOSE_BACKGROUND: .nothing
            case DISPOSE_PREVIOUS: .before
            default: .all
            }
        try canvas.startFrame(area, thenKeeping: disposal)
        guard width > 0, height > 0 else { return try passOverPixels(file) }
        guard let map = descriptor.ColorMap ?? file.pointee.SColorMap else { throw .broken }
        let colors = (0..<256).map { index -> UInt32 in
            guard index < Int(map.pointee.ColorCount), index != control.transparent, let color = map.pointee.Colors
            else {
                return 0
            }
            let (red, green, blue) = (color[index].Red, color[index].Green, color[index].Blue)
            return UInt32(red) | UInt32(green) << 8 | UInt32(blue) << 16 | 0xFF00_0000
        }
        var line = [UInt8](repeating: 0, count: width)
        let passes = descriptor.Interlace ? [(0, 8), (4, 8), (2, 4), (1, 2)] : [(0, 1)]
        for (first, step) in passes {
            for row in stride(from: first, to: height, by: step) {
                guard DGifGetLine(file, &line, Int32(width)) == GIF_OK else { throw .broken }
                canvas.draw(line, row: row, of: area, colors)
            }
        }
    }
}
