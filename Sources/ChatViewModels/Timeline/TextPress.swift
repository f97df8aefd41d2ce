/// A press of the primary button on a message.
public nonisolated struct TextPress: Equatable, Sendable {
    public var point: TextPoint
    /// 1 for a single press, 2 for the second press of a double click, and so on.
    public var count: Int
    /// Whether Shift is held.
    public var isExtending: Bool
    /// Whether the pointer is on the message's bubble rather than beside it.
    public var isOnBubble: Bool

    public init(_ point: TextPoint, count: Int = 1, isExtending: Bool = false, isOnBubble: Bool = true) {
        self.point = point
        self.count = count
        self.isExtending = isExtending
        self.isOnBubble = isOnBubble
    }

    /// What a press means.
    nonisolated enum Meaning: Equatable, Sendable {
        case toggle
        case select(MessageSelection?)
        case edit
    }

    /// - Parameters:
    ///   - item: the pressed message.
    ///   - selection: the selected text.
    ///   - isSelecting: whether messages are selected, in which case a press anywhere on a row toggles its message.
    func meaning(
        on item: MessageItem, selection: MessageSelection?, isSelecting: Bool
    ) -> Meaning? {
        if isSelecting { return count == 1 ? .toggle : nil }
        switch count {
        case 1 where isExtending: return selection.map { .select(MessageSelection(anchor: $0.anchor, focus: point)) }
        case 1: return .select(nil)
        case 2 where item.canEdit && isOnBubble: return .edit
        case 2: return .select(item.word(at: point.offset))
        default:
            let end = item.selectableText.utf8.count
            return .select(
                MessageSelection(
                    anchor: TextPoint(message: item.id, offset: 0), focus: TextPoint(message: item.id, offset: end)))
        }
    }
}
