public import ChatCore
import JSONReading

/// An account that is signed in, by what it takes to go on.
public struct MatrixSession: Sendable, Equatable {
    public var user: MemberID
    public var device: String
    public var token: AccessToken

    public init(user: MemberID, device: String, token: AccessToken) {
        self.user = user
        self.device = device
        self.token = token
    }
}

extension MatrixClient {
    private static let client = ["client", "v3"]

    /// The ways to sign in that the server offers, such as `m.login.password`.
    /// - Throws: ``MatrixError``.
    public func loginFlows() async throws -> [String] {
        let response = try await call(.get, Self.client + ["login"])
        return (response["flows"]?.array ?? []).compactMap { $0["type"]?.string }
    }

    /// Signs in with a password.
    ///
    /// - Parameters:
    ///   - name: a user's whole identifier or the part before the colon.
    ///   - device: of an earlier session that is to go on after a soft log-out; nil for a new one.
    ///   - deviceName: under which the user's other programs show it.
    /// - Throws: ``MatrixError``: refused as `M_FORBIDDEN` if name or password are wrong.
    public func logIn(
        name: String, password: String, device: String? = nil, deviceName: String
    ) async throws -> MatrixSession {
        try await logIn(
            [
                "type": "m.login.password", "identifier": ["type": "m.id.user", "user": .string(name)],
                "password": .string(password),
            ], device: device, deviceName: deviceName)
    }

    /// Signs in with a token that was made for signing in once.
    /// - Throws: ``MatrixError``.
    public func logIn(
        loginToken: String, device: String? = nil, deviceName: String
    ) async throws -> MatrixSession {
        try await logIn(
            ["type": "m.login.token", "token": .string(loginToken)], device: device, deviceName: deviceName)
    }

    private func logIn(_ body: [String: JSONValue], device: String?, deviceName: String) async throws -> MatrixSession {
        var body = body
        body["device_id"] = device.map { .string($0) }
        body["initial_device_display_name"] = .string(deviceName)
        let response = try await with(token: nil).call(
            .post, Self.client + ["login"], body: .object(body), isOnce: true)
        guard let user = response["user_id"]?.string, user.hasPrefix("@"), let token = response["access_token"]?.string,
            let device = response["device_id"]?.string
        else { throw MatrixError.malformed(reason: "an answer to a log-in without user, device or token") }
        return MatrixSession(user: MemberID(user), device: device, token: AccessToken(token))
    }

    /// Whose token it is.
    /// - Throws: ``MatrixError/signedOut(isSoft:)`` if the server does not know it.
    public func whoAmI() async throws -> (user: MemberID, device: String?) {
        let response = try await call(.get, Self.client + ["account", "whoami"])
        guard let user = response["user_id"]?.string else { throw MatrixError.malformed(reason: "nobody") }
        return (MemberID(user), response["device_id"]?.string)
    }

    /// Ends the session at the server. One that it does not know is ended.
    /// - Throws: ``MatrixError`` if the server could not be told.
    public func logOut() async throws {
        do {
            _ = try await call(.post, Self.client + ["logout"], body: [:])
        } catch MatrixError.signedOut {
            return
        }
    }
}
