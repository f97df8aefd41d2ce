import ChatCore
import MatrixCrypto

extension EncryptionError {
    /// Returns what an error means to the user; that something was canceled is none.
    static func translated(_ error: any Error) -> any Error {
        error is CancellationError ? error : EncryptionError(error)
    }

    /// What an error of the server, the machine or the storage means to the user.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as EncryptionError: error
            case let error as MatrixError: EncryptionError(error)
            case ChatError.unreachable, ChatError.busy: .unreachable
            case ChatError.storage(let reason): .storage(reason: reason)
            case CryptoMachine.VerificationFailure.noIdentity: .noIdentity
            case CryptoMachine.VerificationFailure.noDevice: .noDevice
            case CryptoMachine.VerificationFailure.unconfirmed: .unconfirmedDevice
            default: .storage(reason: "\(type(of: error))")
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
