/// A width and a height in logical pixels.
public struct ComposerSize: Hashable, Sendable, Codable {
    public var width: Double
    public var height: Double

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// An item's size until it is given another (MIB-11).
    public static let item = ComposerSize(width: 20, height: 20)

    /// What a press must be able to hit of something of this size: at least 34 pixels either way, 44 for fingers
    /// (MIB-11).
    public func hitArea(forTouch: Bool) -> ComposerSize {
        let minSide = forTouch ? 44.0 : 34.0
        return ComposerSize(width: max(width, minSide), height: max(height, minSide))
    }

    /// The size of a picture in the room that it gets at an allocation: its shape is kept, it fits both ways, and it
    /// is never larger than it is by nature (MIB-21).
    ///
    /// - Parameters:
    ///   - width: available, in pixels.
    ///   - maximumHeight: in pixels; nil for any.
    /// - Returns: zero either way if there is no room, or no picture.
    public func scaled(toWidth width: Double, maximumHeight: Double? = nil) -> ComposerSize {
        guard self.width > 0, height > 0, self.width.isFinite, height.isFinite else {
            return ComposerSize(width: 0, height: 0)
        }
        let factor = min(1, width / self.width, (maximumHeight ?? height) / height)
        guard factor > 0 else { return ComposerSize(width: 0, height: 0) }
        return ComposerSize(width: self.width * factor, height: height * factor)
    }
}

/// The room that an item takes beside its own (MIB-12).
public enum ItemSpacing: Hashable, Sendable, Codable {
    case none
    /// So many pixels more than the item's own width.
    case fixed(Double)
    /// Whatever the others in its slot leave.
    case flexible

    /// Pixels to add to the item's width; never negative.
    public var extraWidth: Double {
        if case .fixed(let width) = self, width > 0 { width } else { 0 }
    }

    public var expands: Bool { self == .flexible }
}
