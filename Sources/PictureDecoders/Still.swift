import ConfinedDecoding
import PictureDecoding

/// One frame on its way from a decoder's lines to what is shown.
struct Still {
    private let scaler: AreaScaler
    private let shown: (width: Int, height: Int)

    /// - Parameters:
    ///   - decoded: the size of the lines that come.
    ///   - shown: in which it is wanted.
    ///   - hasAlpha: false for four channels that know nothing of each other.
    init(
        _ decoded: (width: Int, height: Int), shown: (width: Int, height: Int), hasAlpha: Bool
    ) throws(PictureFailure) {
        self.shown = (min(shown.width, decoded.width), min(shown.height, decoded.height))
        scaler = try AreaScaler(from: decoded, to: self.shown, hasAlpha: hasAlpha)
    }

    func take(_ line: UnsafePointer<UInt8>) { scaler.take(line) }

    /// When all lines came.
    func finish(
        _ sink: any PictureSink, orientation: Orientation = .upright, delay: Int = 0,
        convert: (PixelMemory) -> Void = { _ in }
    ) throws(PictureFailure) {
        convert(scaler.output)
        let upright = try orientation.applied(to: scaler.output, width: shown.width, height: shown.height)
        let size = orientation.size(shown.width, shown.height)
        try sink.show(upright.raw, width: size.width, height: size.height, delay: delay)
    }
}
