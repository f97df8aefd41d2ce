import ChatCore

extension CryptoStorage {
    /// Passes on the records of a kind in the order of their keys, some at a time, as all may not fit into memory.
    /// - Parameter first: The key behind which to begin; `nil` for the first record.
    func forEachPart(
        of kind: CryptoRecord.Kind, after first: CryptoRecord.Key? = nil, limit: Int = 500,
        _ body: ([CryptoRecord]) async throws -> Void
    ) async throws {
        var last = first
        while true {
            let part = try await cryptoRecords(kind, after: last, limit: limit)
            guard let end = part.last else { return }
            try await body(part)
            last = end.key
        }
    }
}
