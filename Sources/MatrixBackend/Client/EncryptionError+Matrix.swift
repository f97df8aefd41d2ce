import ChatCore

extension EncryptionError {
    /// Returns what a ``MatrixError`` or an error of the store means to the user, and any other error as it is.
    static func translated(_ error: any Error) -> any Error {
        switch error {
        case let error as MatrixError: EncryptionError(error)
        case ChatError.storage(let reason): EncryptionError.storage(reason: reason)
        default: error
        }
    }

    private init(_ error: MatrixError) {
        self =
            switch error {
            case .rejected(_, _, let reason) where !reason.isEmpty: .rejected(reason: reason)
            case .rejected(_, let code, _): .rejected(reason: code)
            case .signedOut: .rejected(reason: "signed out")
            case .malformed, .tooLarge: .rejected(reason: "\(error)")
            case .busy, .unreachable, .untrusted: .unreachable
            }
    }
}
