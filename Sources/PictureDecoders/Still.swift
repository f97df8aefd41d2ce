import ConfinedDecoding
import PictureDecoding

/// One frame on its way from a decoder's lines to what is shown.
struct Still {
    private let scaler: AreaScaler
    private let displaySize: (width: Int, height: Int)

    /// - Parameters:
    ///   - decoded: the size of the lines that come.
    ///   - displaySize: in which it is wanted.
    ///   - hasAlpha: false for four channels that know nothing of each other.
    init(
        _ decoded: (width: Int, height: Int), displaySize: (width: Int, height: Int), hasAlpha: Bool
    ) throws(ImageFailure) {
        self.displaySize = (min(displaySize.width, decoded.width), min(displaySize.height, decoded.height))
        scaler = try AreaScaler(from: decoded, to: self.displaySize, hasAlpha: hasAlpha)
    }

    func append(_ line: UnsafePointer<UInt8>) { scaler.append(line) }

    /// When all lines came.
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
