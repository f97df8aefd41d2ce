public import ChatCore

/// A cache of the previews of links in one room; each is requested once.
public final class LinkPreviews {
    /// The cache is emptied when it reaches this size.
    private static let maxCount = 500

    private let room: RoomID
    private let service: any RoomCapabilityService
    /// A `nil` value means that a link has no preview.
    private var cache: [String: LinkPreview?] = [:]
    private var requests: [String: Task<LinkPreview?, Never>] = [:]

    /// Returns `nil` if the backend does not support link previews.
    init?(room: RoomID, service: any RoomCapabilityService) {
        guard service.capabilities.contains(.linkPreviews) else { return nil }
        self.room = room
        self.service = service
    }

    /// The cached preview: `nil` if it was not requested yet, `.some(nil)` if the link has none.
    public func cachedPreview(of address: String) -> LinkPreview?? { cache[address] }

    /// Returns the preview of a link, or `nil` if it has none.
    public func preview(of address: String) async -> LinkPreview? {
        if let cached = cache[address] { return cached }
        if let task = requests[address] { return await task.value }
        // A preview that cannot be fetched is none.
        let task = Task { [service, room] in try? await service.linkPreview(of: address, in: room) }
        requests[address] = task
        let preview = await task.value
        requests[address] = nil
        // Cache failures too, or each row that shows the link would request it again. Opening the room again starts
        // afresh.
        if cache.count >= Self.maxCount { cache = [:] }
        cache[address] = .some(preview)
        return preview
    }
}
