import ChatCore
import Foundation
import JSONReading
import MatrixCrypto

extension MatrixClient {
    /// Makes a request of a ``CryptoMachine``.
    func perform(_ action: CryptoRequest.Action) async throws -> JSONValue {
        switch action {
        case .upload(let body):
            return try await keys("upload", body: Data(body))
        case .query(let query):
            let users = Dictionary(query.users.map { ($0.text, JSONValue.array([])) }) { first, _ in first }
            let body: JSONValue = ["device_keys": .object(users), "timeout": 10_000]
            return try await keys("query", body: body.encoded())
        case .uploadSignatures(let body):
            return try await keys("signatures", "upload", body: body)
        case .claim(let claims):
            var users: [String: [String: JSONValue]] = [:]
            for claim in claims {
                users[claim.user.text, default: [:]][claim.device.text] = .string(KeyClaim.algorithm)
            }
            let body: JSONValue = [
                "one_time_keys": .object(users.mapValues { .object($0) }), "timeout": 10_000,
            ]
            return try await keys("claim", body: body.encoded())
        case .sendAll(let batch):
            let messages = try JSONValue(parsing: batch.messages)
            return try await call(
                .put, ["client", "v3", "sendToDevice", batch.type, batch.transaction], body: ["messages": messages],
                timeout: .seconds(60))
        case .send(let message):
            let content = try JSONValue(parsing: message.content)
            return try await call(
                .put, ["client", "v3", "sendToDevice", message.type, message.transaction],
                body: ["messages": .object([message.user: .object([message.device: content])])])
        }
    }

    /// The body goes as it is: what is repeated is repeated byte for byte.
    private func keys(_ action: String..., body: Data) async throws -> JSONValue {
        var request = request(.post, ["client", "v3", "keys"] + action)
        request.timeout = .seconds(60)
        request.body = .json(body)
        return try await jsonResponse(to: request)
    }
}
