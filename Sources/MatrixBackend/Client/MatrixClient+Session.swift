public import ChatCore
import JSONReading

/// What it takes to resume a session.
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

    /// Requests the server's login types, such as `m.login.password`.
    /// - Throws: ``MatrixError``.
    public func loginFlows() async throws -> [String] {
        let response = try await call(.get, Self.client + ["login"])
        return (response["flows"]?.array ?? []).compactMap { $0["type"]?.string }
    }

    /// Signs in with a password.
    ///
    /// - Parameters:
    ///   - name: A full user ID or its localpart.
    ///   - device: The device ID of a session to resume after a soft logout; `nil` for a new device.
    ///   - deviceName: The device name that the user's other clients show.
    /// - Throws: ``MatrixError``: `rejected` with `M_FORBIDDEN` if the name or password is wrong.
    public func logIn(
        name: String, password: String, device: String? = nil, deviceName: String
    ) async throws -> MatrixSession {
        try await logIn(
            [
                "type": "m.login.password", "identifier": ["type": "m.id.user", "user": .string(name)],
                "password": .string(password),
            ], device: device, deviceName: deviceName)
    }

    /// Signs in with a login token, which is valid once.
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

    /// Returns the token's user and device.
    /// - Throws: ``MatrixError/signedOut(isSoft:)`` if the server does not know the token.
    public func whoAmI() async throws -> (user: MemberID, device: String?) {
        let response = try await call(.get, Self.client + ["account", "whoami"])
        guard let user = response["user_id"]?.string else { throw MatrixError.malformed(reason: "no user ID") }
        return (MemberID(user), response["device_id"]?.string)
    }

    /// Ends the session on the server. An unknown token counts as success.
    /// - Throws: ``MatrixError`` if the request fails.
    public func logOut() async throws {
        do {
            _ = try await call(.post, Self.client + ["logout"], body: [:])
        } catch MatrixError.signedOut {
            return
        }
    }
}
