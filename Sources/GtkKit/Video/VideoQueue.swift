/// A FIFO queue that tracks the total weight of its elements; appending and popping take amortized constant time.
nonisolated struct VideoQueue<Element> {
    private var elements: [(element: Element, weight: Int)?] = []
    /// The number of consumed slots at the front, which are dropped once they make up more than half of the array.
    private var consumedCount = 0
    private(set) var weight = 0

    var isEmpty: Bool { consumedCount == elements.count }
    var count: Int { elements.count - consumedCount }
    var first: Element? { isEmpty ? nil : elements[consumedCount]?.element }
    var last: Element? { isEmpty ? nil : elements[elements.count - 1]?.element }

    mutating func append(_ element: Element, weight: Int) {
        elements.append((element, weight))
        self.weight += weight
    }

    mutating func popFirst() -> Element? {
        guard !isEmpty, let next = elements[consumedCount] else { return nil }
        elements[consumedCount] = nil
        consumedCount += 1
        weight -= next.weight
        if consumedCount > 32, consumedCount * 2 > elements.count {
            elements.removeFirst(consumedCount)
            consumedCount = 0
        }
        return next.element
    }

    mutating func removeAll() { self = VideoQueue() }
}
