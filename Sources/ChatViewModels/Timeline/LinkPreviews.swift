public import ChatCore
public import Observation

/// The previews of links in one room; each is requested once.
@Observable
public final class LinkPreviews {
    /// The cache is emptied when it reaches this size.
    private static let maxCount = 500

    @ObservationIgnored private let room: RoomID
    @ObservationIgnored private let service: any RoomCapabilityService
    /// A `nil` value means that a link has no preview.
    private var cache: [String: LinkPreview?] = [:]
    @ObservationIgnored private var requested: Set<String> = []

    /// Returns `nil` if the backend does not support link previews.
    init?(room: RoomID, service: any RoomCapabilityService) {
        guard service.capabilities.contains(.linkPreviews) else { return nil }
        self.room = room
        self.service = service
    }

    /// The preview of a link: `nil` if it is not known, `.some(nil)` if the link has none.
    public func cachedPreview(of address: String) -> LinkPreview?? { cache[address] }

    /// Requests the preview of a link, unless it is known or already requested. It arrives in
    /// ``cachedPreview(of:)``.
    public func request(_ address: String) {
        guard cache[address] == nil, requested.insert(address).inserted else { return }
        Task { [service, room] in
            // If a preview cannot be fetched, the link counts as having none.
            store(try? await service.linkPreview(of: address, in: room), of: address)
        }
    }

    private func store(_ preview: LinkPreview?, of address: String) {
        requested.remove(address)
        // Cache failures too, or each row that shows the link would request it again. Opening the room again starts
        // afresh.
        if cache.count >= Self.maxCount { cache = [:] }
        cache[address] = .some(preview)
    }
}

extension LinkPreview {
    /// The name of the site, or else the host of the link.
    public func siteText(of link: BodyLink) -> String { site.isEmpty ? link.target.host ?? "" : site }

    /// What a screen reader says for the card, which opens the link.
    public func accessibleText(_ translator: Translator) -> String {
        translator("Open {title}", ["title": title])
    }
}
