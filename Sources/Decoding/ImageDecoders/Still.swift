import ConfinedDecoding
import MediaDecoding

/// Scales, converts and orients a frame.
struct Still {
    private let scaler: AreaScaler
    private let displaySize: (width: Int, height: Int)

    /// - Parameters:
    ///   - decoded: The size of the decoded lines.
    ///   - displaySize: The requested size.
    ///   - hasAlpha: `false` for four independent channels, as in CMYK.
    init(
        _ decoded: (width: Int, height: Int), displaySize: (width: Int, height: Int), hasAlpha: Bool
    ) throws(ImageFailure) {
        self.displaySize = (min(displaySize.width, decoded.width), min(displaySize.height, decoded.height))
        scaler = try AreaScaler(from: decoded, to: self.displaySize, hasAlpha: hasAlpha)
    }

    /// Where the next line is stored if it is not scaled: a line decoded there needs no copy.
    var nextLine: UnsafeMutablePointer<UInt8>? { scaler.nextLine }

    func append(_ line: UnsafePointer<UInt8>) { scaler.append(line) }

    /// Converts and shows the frame after the last line.
    func finish(
        _ sink: any ImageSink, orientation: Orientation = .upright, delay: Int = 0,
        convert: (PixelMemory) -> Void = { _ in }
    ) throws(ImageFailure) {
        convert(scaler.output)
        let upright = try orientation.applied(to: scaler.output, width: displaySize.width, height: displaySize.height)
        let size = orientation.size(displaySize.width, displaySize.height)
        try sink.show(upright.raw, width: size.width, height: size.height, delay: delay)
    }
}
