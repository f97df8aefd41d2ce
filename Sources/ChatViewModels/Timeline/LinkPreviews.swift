public import ChatCore

/// What is behind the links of one room's messages, asked for once each.
public final class LinkPreviews {
    /// Remembered up to so many.
    private static let most = 500

    private let room: RoomID
    private let service: any RoomAbilityService
    /// nil where there is nothing to show.
    private var known: [String: LinkPreview?] = [:]
    private var asked: [String: Task<LinkPreview?, Never>] = [:]

    /// - Returns: nil where the backend has none.
    init?(room: RoomID, service: any RoomAbilityService) {
        guard service.abilities.contains(.linkPreviews) else { return nil }
        self.room = room
        self.service = service
    }

    /// What is known already: nil if nobody asked yet, nil inside if there is nothing to show.
    public func known(of address: String) -> LinkPreview?? { known[address] }

    /// - Returns: nil if there is nothing to show.
    public func preview(of address: String) async -> LinkPreview? {
        if let known = known[address] { return known }
        if let task = asked[address] { return await task.value }
        let task = Task { [service, room] in try? await service.linkPreview(of: address, in: room) }
        asked[address] = task
        let preview = await task.value
        asked[address] = nil
        // What could not be asked for now is not asked for again with each row: not before the room is opened anew.
        if known.count >= Self.most { known = [:] }
        known[address] = .some(preview)
        return preview
    }
}
