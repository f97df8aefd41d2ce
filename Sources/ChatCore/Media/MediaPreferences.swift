/// What is loaded and played in messages without being asked for.
public struct MediaPreferences: Equatable, Sendable {
    /// The size in bytes up to which images are loaded when they are shown; `nil` for any size, 0 for none.
    public var automaticImageBytes: Int?
    /// Whether animated images play, if the desktop enables animations.
    public var playsAnimations: Bool

    public init(automaticImageBytes: Int? = nil, playsAnimations: Bool = true) {
        self.automaticImageBytes = automaticImageBytes
        self.playsAnimations = playsAnimations
    }

    /// Whether an image is loaded when it is shown. One that is on this computer always is; one whose size the sender did not tell counts as large.
    public func loadsAutomatically(_ image: MediaReference) -> Bool {
        guard let limit = automaticImageBytes, !image.isOnlyHere else { return true }
        guard limit > 0, let bytes = image.bytes else { return false }
        return bytes <= limit
    }
}
