import ChatCore

/// Runs requests and throws ``ChatError`` in place of ``MatrixError``.
func asking<T: Sendable>(_ work: () async throws -> T) async throws -> T {
    do { return try await work() } catch { throw ChatError.translated(error) }
}

extension ChatError {
    /// Returns what a ``MatrixError`` means to the user, and any other error as it is.
    static func translated(_ error: any Error) -> any Error {
        guard let error = error as? MatrixError else { return error }
        switch error {
        case .rejected(status: 403, _, _): return ChatError.notPermitted
        case .rejected(status: 404, _, _): return ChatError.notFound
        case .rejected(_, _, let reason) where !reason.isEmpty: return ChatError.rejected(reason: reason)
        case .rejected(_, let code, _): return ChatError.rejected(reason: code)
        case .busy: return ChatError.busy
        case .unreachable, .untrusted: return ChatError.unreachable
        case .signedOut: return ChatError.signedOut
        case .malformed, .tooLarge: return ChatError.unexpectedAnswer(reason: "\(error)")
        }
    }
}
