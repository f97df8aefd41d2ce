/// A list with or without numbers.
public struct BodyList: Hashable, Sendable {
    public struct Item: Hashable, Sendable {
        public var blocks: [BodyBlock]
        /// For a task: whether it is done.
        public var isChecked: Bool?

        public init(_ blocks: [BodyBlock], isChecked: Bool? = nil) {
            self.blocks = blocks
            self.isChecked = isChecked
        }
    }

    /// The number of the first item, 0 to 999,999,999; nil for bullets.
    public var start: Int?
    public var items: [Item]

    public init(start: Int? = nil, items: [Item]) {
        self.start = start
        self.items = items
    }
}
