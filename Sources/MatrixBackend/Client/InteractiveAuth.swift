import ChatCore
import JSONReading

/// Requests that a server performs only with the user's password (specification, "User-Interactive Authentication
/// API"). Supports only the password stage.
struct InteractiveAuth: Sendable {
    private static let passwordStage = "m.login.password"

    let client: MatrixClient
    /// The user whose password it is.
    let user: MemberID

    /// Sends a request, and repeats it with the password if the server requires one.
    /// - Parameter password: `nil` if the user was not asked for it.
    /// - Throws: ``EncryptionError/passwordRequired``, ``EncryptionError/wrongPassword``,
    ///   ``EncryptionError/confirmationUnsupported``, or what any request throws.
    func call(
        _ method: MatrixRequest.Method, _ path: [String], body: [String: JSONValue], password: String?
    ) async throws -> JSONValue {
        // First without the password: not every server requires it each time, and the response contains the session.
        let challenge: Challenge
        switch try await send(method, path, body) {
        case .done(let answer): return answer
        case .challenged(let asked): challenge = asked
        }
        guard challenge.acceptsPassword else { throw EncryptionError.confirmationUnsupported }
        guard let password else { throw EncryptionError.passwordRequired }
        var auth: [String: JSONValue] = [
            "type": .string(Self.passwordStage),
            "identifier": ["type": "m.id.user", "user": .string(user.rawValue)], "password": .string(password),
        ]
        auth["session"] = challenge.session
        var confirmed = body
        confirmed["auth"] = .object(auth)
        switch try await send(method, path, confirmed) {
        case .done(let answer): return answer
        case .challenged(let again) where again.isRejection: throw EncryptionError.wrongPassword
        // The password was correct, but the server requires another stage as well.
        case .challenged: throw EncryptionError.confirmationUnsupported
        }
    }

    private enum Outcome {
        case done(JSONValue)
        case challenged(Challenge)
    }

    /// The server's response that requires authentication.
    private struct Challenge {
        /// Whether only the password stage is missing.
        let acceptsPassword: Bool
        /// Whether the server has rejected the password.
        let isRejection: Bool
        let session: JSONValue?

        /// `nil` for any other response.
        init?(_ response: MatrixResponse) {
            guard response.status == 401, let body = try? JSONValue(parsing: response.body, emptiesTooDeep: true),
                let flows = body["flows"]?.array
            else { return nil }
            let completed = Set((body["completed"]?.array ?? []).compactMap(\.string))
            acceptsPassword = flows.contains { flow in
                let stages = flow["stages"]?.array ?? []
                return stages.filter { !completed.contains($0.string ?? "") } == [.string(passwordStage)]
            }
            isRejection = body["errcode"]?.string != nil
            session = body["session"]?.string.map { .string($0) }
        }
    }

    private func send(
        _ method: MatrixRequest.Method, _ path: [String], _ body: [String: JSONValue]
    ) async throws -> Outcome {
        var request = client.request(method, path)
        request.body = .json(try JSONValue.object(body).encoded())
        let response = try await client.anyResponse(to: request)
        if let challenge = Challenge(response) { return .challenged(challenge) }
        if let error = client.failure(in: response, to: request) { throw error }
        return .done(try MatrixClient.object(in: response))
    }
}
