extension AsyncStream.Iterator {
    /// Returns the next element that satisfies the condition, or `nil` if the stream ends first.
    public mutating func next(where condition: (Element) -> Bool) async -> Element? {
        while let value = await next(isolation: #isolation) {
            if condition(value) { return value }
        }
        return nil
    }
}
