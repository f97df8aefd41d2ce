import CGtk
import ChatCore
import GtkKit

/// The pictures of an account's members and rooms, in one size for all places, each fetched once.
final class AvatarLoader {
    /// In pixels: an invitation has 96, and rows 40, on a display of twice the density 80.
    private static let side = 128
    /// After which what could not be had is asked for again.
    private static let retryInterval = Duration.seconds(60)

    private let previews: MediaPreviews
    private var loading: [String: Task<DecodedImage?, Never>] = [:]
    private var failures: [String: ContinuousClock.Instant] = [:]

    init(service: any MediaService) {
        previews = MediaPreviews(service: service)
    }

    /// The picture if it is at hand.
    func cached(_ uri: String) -> DecodedImage? { previews.cached(Self.media(uri), fitting: Self.side, by: Self.side) }

    /// nil if it is not to be had.
    func image(_ uri: String) async -> DecodedImage? {
        if let image = cached(uri) { return image }
        if let failed = failures[uri], failed.duration(to: .now) < Self.retryInterval { return nil }
        // Whoever waits for it, it is fetched for all: a row that is gone takes nothing from the others.
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

/// The picture of a member or a room, or initials where there is none.
final class AvatarView {
    let widget: Widget
    private var displayedURI: String?
    private var loading: Task<Void, Never>?
    var isLoading: Bool { loading != nil }
    var hasImage: Bool { adw_avatar_get_custom_image(widget.cast()) != nil }

    /// - Parameter size: in logical pixels.
    init(size: Int32) { widget = Widget(sinking: adw_avatar_new(size, nil, 1)) }

    isolated deinit { loading?.cancel() }

    /// The name without the identifier that tells it from another one's: that gives no initial.
    static func initialed(_ name: String) -> String {
        guard name.hasSuffix(")"), let suffixRange = name.ranges(of: " (@").last else { return name }
        return String(name[..<suffixRange.lowerBound])
    }

    /// - Parameters:
    ///   - uri: where the picture is; nil without one.
    ///   - avatarLoader: where it comes from.
    func show(_ name: String, _ uri: String? = nil, from avatarLoader: AvatarLoader? = nil) {
        adw_avatar_set_text(widget.cast(), Self.initialed(name))
        guard uri != displayedURI || uri != nil && !hasImage && loading == nil else { return }
        displayedURI = uri
        loading?.cancel()
        loading = nil
        let ready = uri.flatMap { avatarLoader?.cached($0) }
        adw_avatar_set_custom_image(widget.cast(), ready?.paintable.cast())
        guard ready == nil, let uri, let avatarLoader else { return }
        loading = Task { [weak self] in
            let image = await avatarLoader.image(uri)
            guard !Task.isCancelled, let self else { return }
            loading = nil
            if let image { adw_avatar_set_custom_image(widget.cast(), image.paintable.cast()) }
        }
    }
}
