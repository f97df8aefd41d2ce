import ChatCore
import JSONReading

/// Requests that a server makes only if the user's password stands beside them: the specification's "User-Interactive
/// Authentication API", with passwords alone.
struct InteractiveAuth: Sendable {
    private static let passwordStage = "m.login.password"

    let client: MatrixClient
    /// Whose password it is.
    let user: MemberID

    /// Sends a request, and once more with the password if the server wants it.
    /// - Parameter password: `nil` while the user was not asked for it.
    /// - Throws: ``EncryptionError/passwordRequired``, ``EncryptionError/wrongPassword``,
    ///   ``EncryptionError/confirmationUnsupported``, or what any request throws.
    func call(
        _ method: MatrixRequest.Method, _ path: [String], body: [String: JSONValue], password: String?
    ) async throws -> JSONValue {
        // Without the password first: not each server wants it each time, and the answer names the session.
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
        // The password was right, and is not all that the server wants.
        case .challenged: throw EncryptionError.confirmationUnsupported
        }
    }

    private enum Outcome {
        case done(JSONValue)
        case challenged(Challenge)
    }

    /// What the server wants to be proved.
    private struct Challenge {
        /// Whether a password is all that is missing.
        let acceptsPassword: Bool
        /// Whether what was sent proved nothing.
        let isRejection: Bool
        let session: JSONValue?

        /// `nil` if it is another answer.
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
