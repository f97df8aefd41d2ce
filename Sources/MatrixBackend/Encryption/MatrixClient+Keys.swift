import ChatCore
import Foundation
import JSONReading
import MatrixCrypto

extension MatrixClient {
    /// Performs a request of a ``CryptoMachine``.
    /// - Returns: The response, or the error that it reports.
    /// - Throws: If there is no response.
    func perform(_ action: CryptoRequest.Action) async throws -> Result<JSONValue, MatrixError> {
        switch action {
        case .upload(let body): return try await keys("upload", body: Data(body))
        case .query(let query): return try await keys("query", body: Self.body("device_keys", Self.users(of: query)))
        case .uploadSignatures(let body): return try await keys("signatures", "upload", body: body)
        case .claim(let claims):
            return try await keys("claim", body: Self.body("one_time_keys", Self.devices(of: claims)))
        case .sendAll(let batch): return try await send(batch.type, batch.transaction, Array(batch.messages))
        case .send(let message):
            let id = DeviceID(user: ExactText(message.user), device: ExactText(message.device))
            let messages = ExactObject(byDevice: [(id: id, value: Array(message.content))])
            return try await send(message.type, message.transaction, messages.bytes)
        }
    }

    private static func users(of query: DeviceTracker.Query) -> [UInt8] {
        ExactObject(query.users.map { ($0, Array("[]".utf8)) }).bytes
    }

    private static func devices(of claims: [KeyClaim]) -> [UInt8] {
        let algorithm = Array("\"\(KeyClaim.algorithm)\"".utf8)
        return ExactObject(byDevice: claims.map { (id: DeviceID(user: $0.user, device: $0.device), value: algorithm) })
            .bytes
    }

    /// - Parameter value: The query. Servers get 10 seconds to answer.
    private static func body(_ name: ExactText, _ value: [UInt8]) -> Data {
        Data(ExactObject([(name, value), ("timeout", Array("10000".utf8))]).bytes)
    }

    private func send(
        _ type: String, _ transaction: String, _ messages: [UInt8]
    ) async throws -> Result<JSONValue, MatrixError> {
        let body = Data(ExactObject([("messages", messages)]).bytes)
        return try await exact(request(.put, ["client", "v3", "sendToDevice", type, transaction]), body)
    }

    private func keys(_ action: String..., body: Data) async throws -> Result<JSONValue, MatrixError> {
        try await exact(request(.post, ["client", "v3", "keys"] + action), body)
    }

    /// Sends the body unchanged, so that a repeated request is identical to the first byte by byte.
    private func exact(_ request: MatrixRequest, _ body: Data) async throws -> Result<JSONValue, MatrixError> {
        var request = request
        request.timeout = .seconds(60)
        request.body = .json(body)
        let response: MatrixResponse
        do {
            response = try await anyResponse(to: request)
        } catch MatrixError.tooLarge(let limit) {
            return .failure(.tooLarge(limit: limit))
        }
        if let error = failure(in: response, to: request) { return .failure(error) }
        do throws(MatrixError) {
            return .success(try Self.object(in: response))
        } catch {
            return .failure(error)
        }
    }
}
