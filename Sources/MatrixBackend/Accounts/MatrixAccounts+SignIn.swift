public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// A session that is open on the server but not yet stored with the account.
struct PendingSignIn {
    var account: Account
    var token: AccessToken
    /// Where the user wants to store credentials.
    var location = CredentialLocation.keyring
    /// Whether abandoning it logs out, which deletes the device: not one of another program, whose token was entered,
    /// nor the account's own, whose keys are stored here and would be unpublished.
    var endsDevice: Bool
}

extension MatrixAccounts: SignInService {
    public func server(at address: String) async throws -> SignInServer {
        do {
            let found = try await Discovery(transport: transport).homeserver(for: address)
            let ways = try await MatrixClient(server: found.url, transport: transport).loginFlows()
            return SignInServer(
                url: found.url, supportsPassword: ways.contains("m.login.password"),
                hasWebPage: ways.contains("m.login.sso"))
        } catch {
            throw try SignInProblem.of(error)
        }
    }

    public func signIn(
        to server: SignInServer, with credentials: SignInCredentials, again: String?
    ) async throws -> Account {
        let client = MatrixClient(server: server.url, transport: transport)
        let device = if let again { await reusableDevice(of: again) } else { String?.none }
        let session: MatrixSession
        do {
            session = try await self.session(client, credentials, device: device)
        } catch {
            throw try SignInProblem.of(error)
        }
        let authenticatedClient = client.with(token: session.token)
        let id = session.user.rawValue
        let problem: SignInProblem? =
            if let again { again == id ? nil : .otherUser } else { entry(id) == nil ? nil : .alreadyHere }
        if problem == nil, case .accessToken = credentials, let device, device != session.device,
            hasKeys(of: device, id)
        {
            // The keys of this device would give way to another program's device, which has keys of its own.
            throw SignInProblem.otherDevice
        }
        let isOwn = if case .password = credentials { true } else { false }
        let isReused = id == again && session.device == device
        let endsDevice = isOwn && !isReused
        guard problem == nil, !Task.isCancelled else {
            // In a separate task, because this one may be canceled. A session that stays open is listed in the
            // user's other clients, where it can be ended.
            if endsDevice { await Task { try? await authenticatedClient.logOut() }.value }
            if let problem { throw problem }
            throw CancellationError()
        }
        let name = try? await authenticatedClient.displayName(of: session.user) ?? id
        let account = Account(
            id: id, kind: Self.kind, server: server.url.absoluteString, device: session.device,
            // If the request has failed, it is repeated once the account is online.
            name: name ?? entry(id)?.account.name ?? id)
        pending[id] = PendingSignIn(account: account, token: session.token, endsDevice: endsDevice)
        return account
    }

    private func session(
        _ client: MatrixClient, _ credentials: SignInCredentials, device: String?
    ) async throws -> MatrixSession {
        switch credentials {
        case .password(let name, let password):
            return try await client.logIn(
                name: name, password: password.value, device: device, deviceName: deviceName)
        case .accessToken(let credential):
            let token = AccessToken(credential.value)
            do {
                let identity = try await client.with(token: token).whoAmI()
                return MatrixSession(user: identity.user, device: identity.device ?? "", token: token)
            } catch MatrixError.signedOut {
                throw SignInProblem.wrongToken
            }
        }
    }

    public func storeCredential(of account: String, in location: CredentialLocation) async throws {
        // A sign-out still removes the credentials of the earlier session.
        await departures[account]?.value
        guard let token = pending[account]?.token else { return }
        pending[account]?.location = location
        let credential = AccountCredential(token.value)
        switch location {
        case .keyring: try await keyring.store(credential, of: account)
        case .memory: await memory.store(credential, of: account)
        case .file: try await folders.credentialStore.store(credential, of: account)
        }
        // Without the record, the next start finds nothing in the keyring and then asks for the password.
        try? await list.setSetting(location == .memory ? "1" : "", for: Self.forgottenSetting + account)
        // Remove credentials of earlier sessions from the other locations. One that cannot be removed is rejected by the
        // server if it is used, and the user signs in again.
        if location != .memory { await memory.removeCredential(of: account) }
        if location != .file { try? await folders.credentialStore.removeCredential(of: account) }
        if location != .keyring { try? await keyring.removeCredential(of: account) }
    }

    public func activate(_ account: String) async throws {
        await departures[account]?.value
        guard let signIn = pending[account] else { return }
        do {
            // What is left of a sign-out that was interrupted must not be sent in the new session.
            if entry(account) == nil { try folders.setAsideIfSignedOut(account) }
            try await list.saveAccount(signIn.account)
        } catch {
            throw SignInProblem.storage(reason: "\(error)")
        }
        pending[account] = nil
        if entry(account) == nil {
            entries.append(Entry(account: signIn.account))
        } else {
            update(account) { entry in
                entry.account = signIn.account
                entry.isNamed = false
            }
        }
        if let backend = entry(account)?.backend {
            if let server = URL(string: signIn.account.server) { backend.move(to: server) }
        } else {
            await open(account)
        }
        if case .broken(let reason)? = entry(account)?.condition { throw SignInProblem.storage(reason: reason) }
        update(account) { $0.condition = .connecting }
        publishStates()
        await resume(account, with: signIn.token, from: signIn.location)
    }

    public func abandon(_ account: String) async {
        guard let signIn = pending.removeValue(forKey: account), let server = URL(string: signIn.account.server)
        else { return }
        await memory.removeCredential(of: account)
        // The session is ended below, or the next sign-in replaces the token: one that cannot be removed is useless.
        try? await folders.credentialStore.removeCredential(of: account)
        try? await keyring.removeCredential(of: account)
        guard signIn.endsDevice else { return }
        // A session that stays open is listed in the user's other clients.
        try? await MatrixClient(server: server, token: signIn.token, transport: transport).logOut()
    }
}

extension MatrixClient {
    /// Returns the profile's display name, or `nil` if it has none.
    func displayName(of user: MemberID) async throws -> String? {
        do {
            let response = try await call(.get, ["client", "v3", "profile", user.rawValue, "displayname"])
            switch response["displayname"] {
            case .string(let name)?: return ChatLimits.roomName(from: name)
            case nil, .null?: return nil
            default: throw MatrixError.malformed(reason: "a display name that is no text")
            }
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }
}

extension SignInProblem {
    /// Maps an error to a sign-in problem.
    /// - Throws: `CancellationError` if `error` is one.
    static func of(_ error: any Error) throws -> SignInProblem {
        switch error {
        case let problem as SignInProblem: problem
        case is CancellationError: throw CancellationError()
        case Discovery.Problem.notAnAddress: .notAnAddress
        case Discovery.Problem.unreachable(let reason): .unreachable(reason: reason)
        case Discovery.Problem.untrusted(let problem): .untrusted(SignInProblem.Certificate(problem))
        case Discovery.Problem.noHomeserver(let reason): .noHomeserver(reason: reason)
        case let error as MatrixError: SignInProblem(error)
        default: .unreachable(reason: "\(type(of: error))")
        }
    }

    private init(_ error: MatrixError) {
        self =
            switch error {
            case .unreachable(let reason, _): .unreachable(reason: reason)
            case .untrusted(let problem): .untrusted(Certificate(problem))
            case .busy(let wait): .tooOften(wait: wait)
            case .rejected(_, "M_USER_DEACTIVATED", _): .deactivated
            case .rejected(403, "M_FORBIDDEN", _): .wrongPassword
            case .rejected(_, let code, let reason): .rejected(reason: reason.isEmpty ? code : reason)
            case .signedOut: .wrongToken
            case .malformed(let reason): .noHomeserver(reason: reason)
            case .tooLarge: .noHomeserver(reason: "the answer is too large")
            }
    }
}

extension SignInProblem.Certificate {
    init(_ problem: CertificateProblem) {
        self =
            switch problem {
            case .unknownIssuer: .unknownIssuer
            case .wrongName: .wrongName
            case .expired: .expired
            case .notYetValid: .notYetValid
            case .other: .other
            }
    }
}
