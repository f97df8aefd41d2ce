import ChatCore

/// The side of a requested thumbnail: one of a few sizes, so windows of different sizes share cached files.
struct ThumbnailSide: Equatable {
    let pixels: Int
    private static let sides = [320, 640, 800]
    /// Media up to this size are downloaded in full.
    private static let smallBytes = 64 << 10

    /// - Returns: `nil` if the content itself should be used.
    init?(of media: MediaReference, fitting width: Int, by height: Int) {
        guard let side = Self.sides.first(where: { $0 >= max(width, height) }),
            // Thumbnails are not animated.
            !["image/gif", "image/webp", "image/apng"].contains(media.type),
            media.bytes ?? .max > Self.smallBytes
        else { return nil }
        if let mediaWidth = media.width, let mediaHeight = media.height, max(mediaWidth, mediaHeight) <= side {
            return nil
        }
        pixels = side
    }
}
