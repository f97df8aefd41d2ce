/// A width and a height in logical pixels.
public struct ComposerSize: Hashable, Sendable, Codable {
    public var width: Double
    public var height: Double

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// The default size of an item (MIB-11).
    public static let item = ComposerSize(width: 20, height: 20)

    /// Returns the minimum hit area for this size: at least 34 pixels in each dimension, 44 for touch (MIB-11).
    public func hitArea(forTouch: Bool) -> ComposerSize {
        let minSide = forTouch ? 44.0 : 34.0
        return ComposerSize(width: max(width, minSide), height: max(height, minSide))
    }

    /// Returns the size of an image scaled down to fit, preserving its aspect ratio; never enlarges it (MIB-21).
    ///
    /// - Parameters:
    ///   - width: the available width in pixels.
    ///   - maxHeight: the available height in pixels; `nil` for no limit.
    /// - Returns: a zero size if there is no space or no image.
    public func scaled(toWidth width: Double, maxHeight: Double? = nil) -> ComposerSize {
        guard self.width > 0, height > 0, self.width.isFinite, height.isFinite else {
            return ComposerSize(width: 0, height: 0)
        }
        let factor = min(1, width / self.width, (maxHeight ?? height) / height)
        guard factor > 0 else { return ComposerSize(width: 0, height: 0) }
        return ComposerSize(width: self.width * factor, height: height * factor)
    }
}

/// The additional width of an item (MIB-12).
public enum ItemSpacing: Hashable, Sendable, Codable {
    case none
    /// A number of pixels in addition to the item's width.
    case fixed(Double)
    /// The remaining space in its slot.
    case flexible

    /// The pixels to add to the item's width; never negative.
    public var extraWidth: Double {
        if case .fixed(let width) = self, width > 0 { width } else { 0 }
    }

    public var expands: Bool { self == .flexible }
}
