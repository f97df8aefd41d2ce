package import ChatCore
package import Foundation
package import GtkKit
import MediaDecoding

/// Decodes images off the main thread at their display size, and caches them.
package final class MediaPreviews {
    /// The maximum size of the cache, in bytes of decoded pixels.
    static let budget = 48 << 20

    private let content: (MediaReference) async throws -> URL
    private let thumbnail: ((MediaReference, _ width: Int, _ height: Int) async throws -> URL)?
    private let cachedContent: (MediaReference) async -> URL?
    private var cache: [String: (picture: DecodedImage, usedAt: Int)] = [:]
    private var clock = 0
    private(set) var bytes = 0

    /// - Parameters:
    ///   - content: Returns the local file of a content; throws if it is unavailable.
    ///   - thumbnail: Returns the local file of a thumbnail that fits within a size in pixels.
    ///   - cachedContent: Returns the local file of a content if no download is necessary.
    package init(
        content: @escaping (MediaReference) async throws -> URL,
        thumbnail: ((MediaReference, _ width: Int, _ height: Int) async throws -> URL)? = nil,
        cachedContent: @escaping (MediaReference) async -> URL? = { _ in nil }
    ) {
        self.content = content
        self.thumbnail = thumbnail
        self.cachedContent = cachedContent
    }

    package convenience init(service: any MediaService) {
        self.init(
            content: { try await service.content(of: $0) },
            thumbnail: { try await service.thumbnail(of: $0, fitting: $1, by: $2) },
            cachedContent: { await service.cachedContent(of: $0) })
    }

    /// Whether the content is stored locally.
    func isStored(_ media: MediaReference) async -> Bool { await cachedContent(media) != nil }

    /// Returns the image if it is cached.
    func cached(_ media: MediaReference, fitting width: Int, by height: Int) -> DecodedImage? {
        image(kept: Self.key(media, width, height))
    }

    private func image(kept key: String) -> DecodedImage? {
        guard let image = cache[key]?.picture else { return nil }
        clock += 1
        cache[key]?.usedAt = clock
        return image
    }

    /// Decodes an image to fit within a size in pixels. Returns `nil` if it cannot be displayed or the task was
    /// canceled, for callers that show a fallback whatever the reason.
    package func image(of media: MediaReference, fitting width: Int, by height: Int) async -> DecodedImage? {
        try? await load(media, fitting: width, by: height)
    }

    /// Decodes an image to fit within a size in pixels.
    /// - Throws: ``ImageFailure``, or the reason why the content is unavailable.
    func load(_ media: MediaReference, fitting width: Int, by height: Int) async throws -> DecodedImage {
        if let image = cached(media, fitting: width, by: height) { return image }
        let image = try await decode(media, width, height)
        store(image, Self.key(media, width, height))
        return image
    }

    /// Decodes the original instead of a thumbnail, to fit within a size in pixels. Does not cache it.
    /// - Throws: As ``load(_:fitting:by:)``.
    func loadWhole(_ media: MediaReference, fitting width: Int, by height: Int) async throws -> DecodedImage {
        try await ImageDecoder.load(try await content(media), fitting: width, by: height)
    }

    private func decode(_ media: MediaReference, _ width: Int, _ height: Int) async throws -> DecodedImage {
        guard let thumbnail else { return try await loadWhole(media, fitting: width, by: height) }
        let small = try await thumbnail(media, width, height)
        if Task.isCancelled { throw ImageFailure.stopped }
        do {
            return try await ImageDecoder.load(small, fitting: width, by: height)
        } catch let failure as ImageFailure {
            // The server's thumbnail may be undecodable although the original is fine.
            let whole = try await content(media)
            guard whole != small, !Task.isCancelled else { throw failure }
            return try await ImageDecoder.load(whole, fitting: width, by: height)
        }
    }

    /// Returns a poster frame: the video's thumbnail, or else a frame of the video if it is in the local cache. Does
    /// not download the video.
    /// - Parameter loadsThumbnail: whether the thumbnail may be downloaded.
    package func poster(
        of video: MediaReference, fitting width: Int, by height: Int, loadsThumbnail: Bool = true
    ) async -> DecodedImage? {
        if loadsThumbnail, let thumbnail = video.thumbnailURI {
            let still = MediaReference(uri: thumbnail, name: video.name, type: "image/*")
            // Without a thumbnail, fall back to a frame of the video.
            if let image = try? await load(still, fitting: width, by: height) { return image }
        }
        if let image = cached(video, fitting: width, by: height) { return image }
        // A video that cannot be decoded has no poster; playing it says why.
        guard let file = await cachedContent(video), !Task.isCancelled,
            let image = try? await ImageDecoder.loadStill(ofFilm: file, fitting: width, by: height)
        else { return nil }
        store(image, Self.key(video, width, height))
        return image
    }

    /// Draws the image's BlurHash at its aspect ratio, or returns `nil` if it has none.
    func placeholder(of media: MediaReference) async -> DecodedImage? {
        guard let text = media.blurHash else { return nil }
        if let image = cachedPlaceholder(of: media) { return image }
        let size = Self.placeholderSize(of: media)
        guard let image = await Self.draw(text, size.width, size.height) else { return nil }
        store(image, Self.placeholderKey(text, size))
        return image
    }

    /// Returns the placeholder if it is cached.
    func cachedPlaceholder(of media: MediaReference) -> DecodedImage? {
        media.blurHash.flatMap { image(kept: Self.placeholderKey($0, Self.placeholderSize(of: media))) }
    }

    @concurrent
    private nonisolated static func draw(_ text: String, _ width: Int, _ height: Int) async -> DecodedImage? {
        BlurHash(text).flatMap {
            DecodedImage(pixels: $0.pixels(width: width, height: height), width: width, height: height)
        }
    }

    private static func placeholderKey(_ text: String, _ size: (width: Int, height: Int)) -> String {
        "\(size.width)x\(size.height) blur:\(text)"
    }

    /// A few pixels suffice: a BlurHash has no edges.
    private static func placeholderSize(of media: MediaReference) -> (width: Int, height: Int) {
        let (width, height) = ImageContentView.displaySize(of: media)
        let scale = 32 / Double(max(width, height))
        return (max(1, Int(Double(width) * scale)), max(1, Int(Double(height) * scale)))
    }

    /// Returns the local file of a content, or `nil` if it is unavailable.
    func file(of media: MediaReference) async -> URL? { try? await content(media) }

    private func store(_ image: DecodedImage, _ key: String) {
        guard cache[key] == nil, image.bytes <= Self.budget else { return }
        clock += 1
        cache[key] = (image, clock)
        bytes += image.bytes
        guard bytes > Self.budget else { return }
        // Evict a quarter at once, to avoid sorting the cache for each new image.
        for (key, oldest) in cache.sorted(by: { $0.value.usedAt < $1.value.usedAt }) where bytes > Self.budget * 3 / 4 {
            cache[key] = nil
            bytes -= oldest.picture.bytes
        }
    }

    private static func key(_ media: MediaReference, _ width: Int, _ height: Int) -> String {
        "\(width)x\(height) \(media.uri)"
    }
}
