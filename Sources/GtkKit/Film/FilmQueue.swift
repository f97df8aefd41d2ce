/// What waits for its turn, and how much it is altogether: a step costs the same however much waits.
nonisolated struct FilmQueue<Element> {
    private var elements: [(element: Element, weight: Int)?] = []
    /// How many of the elements have had their turn: they are dropped when they are the most of all.
    private var taken = 0
    private(set) var weight = 0

    var isEmpty: Bool { taken == elements.count }
    var count: Int { elements.count - taken }
    var first: Element? { isEmpty ? nil : elements[taken]?.element }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1]?.element }

    mutating func append(_ element: Element, weight: Int) {
        elements.append((element, weight))
        self.weight += weight
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty, let next = elements[taken] else { return nil }
        elements[taken] = nil
        taken += 1
        weight -= next.weight
        if taken > 32, taken * 2 > elements.count {
            elements.removeFirst(taken)
            taken = 0
        }
        return next.element
    }

    mutating func removeAll() { self = FilmQueue() }
}
