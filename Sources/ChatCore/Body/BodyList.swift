/// An ordered or unordered list.
public struct BodyList: Hashable, Sendable {
    public struct Item: Hashable, Sendable {
        public var blocks: [BodyBlock]
        /// Whether a task list item is checked; `nil` for other items.
        public var isChecked: Bool?

        public init(_ blocks: [BodyBlock], isChecked: Bool? = nil) {
            self.blocks = blocks
            self.isChecked = isChecked
        }
    }

    /// The number of the first item, from 0 to 999,999,999; `nil` for an unordered list.
    public var start: Int?
    public var items: [Item]

    public init(start: Int? = nil, items: [Item]) {
        self.start = start
        self.items = items
    }
}
