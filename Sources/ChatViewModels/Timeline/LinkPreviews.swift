public import ChatCore

/// What is behind the links of one room's messages, asked for once each.
public final class LinkPreviews {
    /// Remembered up to so many.
    private static let maxCount = 500

    private let room: RoomID
    private let service: any RoomCapabilityService
    /// nil where there is nothing to show.
    private var cache: [String: LinkPreview?] = [:]
    private var requests: [String: Task<LinkPreview?, Never>] = [:]

    /// - Returns: nil where the backend has none.
    init?(room: RoomID, service: any RoomCapabilityService) {
        guard service.capabilities.contains(.linkPreviews) else { return nil }
        self.room = room
        self.service = service
    }

    /// What is known already: nil if nobody asked yet, nil inside if there is nothing to show.
    public func cachedPreview(of address: String) -> LinkPreview?? { cache[address] }

    /// - Returns: nil if there is nothing to show.
    public func preview(of address: String) async -> LinkPreview? {
        if let cached = cache[address] { return cached }
        if let task = requests[address] { return await task.value }
        let task = Task { [service, room] in try? await service.linkPreview(of: address, in: room) }
        requests[address] = task
        let preview = await task.value
        requests[address] = nil
        // What could not be asked for now is not asked for again with each row: not before the room is opened anew.
        if cache.count >= Self.maxCount { cache = [:] }
        cache[address] = .some(preview)
        return preview
    }
}
