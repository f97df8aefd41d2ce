package import ChatCore
package import GtkKit

/// Loads avatars of an account's users and rooms, in one size for all uses, each only once.
package final class AvatarLoader {
    /// In device pixels: suits 40-pixel avatars in rows at a scale factor of 2, and the 96-pixel avatar of an
    /// invitation.
    private static let side = 128
    /// The time after which a failed download is retried.
    private static let retryInterval = Duration.seconds(60)

    private let previews: MediaPreviews
    private var loading: [String: Task<DecodedImage?, Never>] = [:]
    private var failures: [String: ContinuousClock.Instant] = [:]

    package init(service: any MediaService) {
        previews = MediaPreviews(service: service)
    }

    /// Returns the avatar if it is cached.
    func cached(_ uri: String) -> DecodedImage? { previews.cached(Self.media(uri), fitting: Self.side, by: Self.side) }

    /// Returns `nil` if the avatar is unavailable.
    func image(_ uri: String) async -> DecodedImage? {
        if let image = cached(uri) { return image }
        if let failed = failures[uri], failed.duration(to: .now) < Self.retryInterval { return nil }
        // An unstructured task shared by all callers: canceling one of them must not affect the others.
        let task =
            loading[uri]
            ?? Task { [previews] in
                await previews.image(of: Self.media(uri), fitting: Self.side, by: Self.side)
            }
        loading[uri] = task
        let image = await task.value
        loading[uri] = nil
        failures[uri] = image == nil ? .now : nil
        return image
    }

    private static func media(_ uri: String) -> MediaReference { MediaReference(uri: uri, name: "", type: "image/*") }
}

/// The avatar of a user or room, or initials if there is none; a small one has an icon instead.
@MainActor package final class AvatarView {
    package let widget: Avatar
    private var displayedURI: String?
    private var loading: Task<Void, Never>?
    var isLoading: Bool { loading != nil }
    var hasImage: Bool { widget.image != nil }

    /// The size from which initials can be read, in logical pixels.
    private static let minSizeOfInitials = 20

    /// - Parameter size: In logical pixels.
    package init(size: Int) {
        widget = Avatar(size: size)
        if size < Self.minSizeOfInitials { widget.showsInitials = false }
    }

    isolated deinit { loading?.cancel() }

    /// The name without a disambiguating ` (@user:server)` suffix, which must not contribute to the initials.
    static func initialed(_ name: String) -> String {
        guard name.hasSuffix(")"), let suffixRange = name.ranges(of: " (@").last else { return name }
        return String(name[..<suffixRange.lowerBound])
    }

    /// - Parameters:
    ///   - uri: The avatar's URI, or `nil` for none.
    ///   - avatarLoader: Loads the avatar.
    package func show(_ name: String, _ uri: String? = nil, from avatarLoader: AvatarLoader? = nil) {
        widget.text = Self.initialed(name)
        guard uri != displayedURI || uri != nil && !hasImage && loading == nil else { return }
        displayedURI = uri
        loading?.cancel()
        loading = nil
        let ready = uri.flatMap { avatarLoader?.cached($0) }
        widget.image = ready?.paintable
        guard ready == nil, let uri, let avatarLoader else { return }
        loading = Task { [weak self] in
            let image = await avatarLoader.image(uri)
            guard !Task.isCancelled, let self else { return }
            loading = nil
            if let image { widget.image = image.paintable }
        }
    }
}
