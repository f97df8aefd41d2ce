import ChatCore

/// The messages selected for copying, forwarding or deletion. May include messages that have been dropped from memory.
public nonisolated struct SelectedMessages: Equatable, Sendable {
    /// Whether each message is the user's own.
    private var isOwn: [MessageID: Bool] = [:]

    public init() {}

    public var count: Int { isOwn.count }
    public var isEmpty: Bool { isOwn.isEmpty }
    /// Whether all of them are the user's own.
    public var canDelete: Bool { !isOwn.isEmpty && isOwn.values.allSatisfy { $0 } }
    var ids: [MessageID] { Array(isOwn.keys) }
    var ownIDs: [MessageID] { isOwn.filter(\.value).map(\.key) }

    func contains(_ id: MessageID) -> Bool { isOwn[id] != nil }

    /// Selects or deselects a message.
    /// - Parameter item: the message if its row is loaded.
    /// - Returns: whether this was possible.
    mutating func toggle(_ id: MessageID, _ item: MessageItem?) -> Bool {
        if isOwn.removeValue(forKey: id) != nil { return true }
        guard let item, item.canSelect else { return false }
        isOwn[id] = item.isOwn
        return true
    }

    /// - Returns: the messages that were selected.
    mutating func clear() -> [MessageID] {
        defer { isOwn = [:] }
        return ids
    }

    /// Deselects deleted and removed messages.
    /// - Returns: those that were selected.
    mutating func removeDeleted(by update: TimelineUpdate) -> [MessageID] {
        guard !isOwn.isEmpty else { return [] }
        let removed: [MessageID] =
            switch update {
            case .changed(let messages): messages.filter(\.isDeleted).map(\.id)
            case .removed(let ids): ids
            default: []
            }
        return remove(removed)
    }

    /// Deselects messages.
    /// - Returns: those that were selected.
    mutating func remove(_ ids: [MessageID]) -> [MessageID] {
        ids.filter { isOwn.removeValue(forKey: $0) != nil }
    }
}
