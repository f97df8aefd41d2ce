import ChatCore
import ChatOutbox
import MatrixCrypto

extension EncryptionError {
    /// Returns the error for the user. A cancellation stays one.
    static func translated(_ error: any Error) -> any Error {
        error is CancellationError ? error : EncryptionError(error)
    }

    /// Maps an error of the server, the machine or the storage.
    init(_ error: any Error) {
        self =
            switch error {
            case let error as EncryptionError: error
            case let error as MatrixError: EncryptionError(error)
            case ChatError.unreachable, ChatError.busy: .unreachable
            case ChatError.unexpectedAnswer(let reason): .rejected(reason: reason)
            case ChatError.storage(let reason): .storage(reason: reason)
            case DeliveryError.unreachable, DeliveryError.busy: .unreachable
            case DeliveryError.rejected(let reason): .rejected(reason: reason)
            case CryptoMachine.VerificationFailure.noIdentity: .noIdentity
            case CryptoMachine.VerificationFailure.otherIdentity: .otherIdentity
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
