extension AsyncStream.Iterator {
    /// The first value from here on that satisfies the condition; nil if the stream ends before.
    public mutating func next(where condition: (Element) -> Bool) async -> Element? {
        while let value = await next(isolation: #isolation) {
            if condition(value) { return value }
        }
        return nil
    }
}
