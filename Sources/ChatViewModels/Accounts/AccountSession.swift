public import ChatCore
public import Observation

/// What an account's conversations observe of its session with the server.
@Observable
@MainActor
public final class AccountSession {
    /// Whether sending is blocked until the user signs in again.
    public internal(set) var isSignedOut = false

    /// Whether it is not known yet if the server can be reached.
    public internal(set) var isConnecting = false

    /// Whether the server was reached last time.
    public internal(set) var isOnline = false

    /// The state of encryption on this device.
    public internal(set) var encryption = EncryptionCondition.none

    /// Reconnects and opens the keys again.
    @ObservationIgnored var retry: @MainActor () -> Void = {}

    public init() {}

    func apply(_ state: AccountState) {
        isSignedOut = state.condition.needsSignIn
        isConnecting = state.condition == .connecting
        isOnline = state.condition == .online
        let error: CredentialStoreError? = if case .locked(let error) = state.condition { error } else { nil }
        // Without the account's token, its keys are not opened, so their condition stays unknown.
        encryption = if state.encryption == .none, let error { .off(.locked(error)) } else { state.encryption }
    }
}
