import CGtk
import ChatCore
import GtkKit

/// The pictures of an account's members and rooms, in one size for all places, each fetched once.
final class AvatarPictures {
    /// In pixels: an invitation has 96, and rows 40, on a display of twice the density 80.
    private static let side = 128
    /// After which what could not be had is asked for again.
    private static let patience = Duration.seconds(60)

    private let previews: MediaPreviews
    private var loading: [String: Task<Picture?, Never>] = [:]
    private var failures: [String: ContinuousClock.Instant] = [:]

    init(service: any MediaService) {
        previews = MediaPreviews(service: service)
    }

    /// The picture if it is at hand.
    func cached(_ uri: String) -> Picture? { previews.cached(Self.media(uri), fitting: Self.side, by: Self.side) }

    /// nil if it is not to be had.
    func picture(_ uri: String) async -> Picture? {
        if let known = cached(uri) { return known }
        if let failed = failures[uri], failed.duration(to: .now) < Self.patience { return nil }
        // Whoever waits for it, it is fetched for all: a row that is gone takes nothing from the others.
        let task =
            loading[uri]
            ?? Task { [previews] in
                await previews.picture(of: Self.media(uri), fitting: Self.side, by: Self.side)
            }
        loading[uri] = task
        let picture = await task.value
        loading[uri] = nil
        failures[uri] = picture == nil ? .now : nil
        return picture
    }

    private static func media(_ uri: String) -> MediaReference { MediaReference(uri: uri, name: "", type: "image/*") }
}

/// The picture of a member or a room, or initials where there is none.
final class AvatarView {
    let widget: Widget
    private var shown: String?
    private var loading: Task<Void, Never>?
    var isLoading: Bool { loading != nil }
    var hasPicture: Bool { adw_avatar_get_custom_image(widget.cast()) != nil }

    /// - Parameter size: in logical pixels.
    init(size: Int32) { widget = Widget(sinking: adw_avatar_new(size, nil, 1)) }

    isolated deinit { loading?.cancel() }

    /// The name without the identifier that tells it from another one's: that gives no initial.
    static func initialed(_ name: String) -> String {
        guard name.hasSuffix(")"), let mark = name.ranges(of: " (@").last else { return name }
        return String(name[..<mark.lowerBound])
    }

    /// - Parameters:
    ///   - uri: where the picture is; nil without one.
    ///   - pictures: where it comes from.
    func show(_ name: String, _ uri: String? = nil, from pictures: AvatarPictures? = nil) {
        adw_avatar_set_text(widget.cast(), Self.initialed(name))
        guard uri != shown || uri != nil && !hasPicture && loading == nil else { return }
        shown = uri
        loading?.cancel()
        loading = nil
        let ready = uri.flatMap { pictures?.cached($0) }
        adw_avatar_set_custom_image(widget.cast(), ready?.paintable.cast())
        guard ready == nil, let uri, let pictures else { return }
        loading = Task { [weak self] in
            let picture = await pictures.picture(uri)
            guard !Task.isCancelled, let self else { return }
            loading = nil
            if let picture { adw_avatar_set_custom_image(widget.cast(), picture.paintable.cast()) }
        }
    }
}
