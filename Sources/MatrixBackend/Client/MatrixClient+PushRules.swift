import ChatCore
import JSONReading

extension MatrixClient {
    /// Requests the user's push rules.
    func pushRules() async throws -> PushRuleSettings {
        PushRuleSettings(try await call(.get, ["client", "v3", "pushrules", ""]))
    }

    /// Changes one of the user's push rules.
    func change(_ change: PushRuleSettings.Change) async throws {
        switch change {
        case .put(let kind, let id, let body):
            _ = try await call(.put, Self.rule(kind, id), body: body)
        case .enable(let kind, let id):
            _ = try await call(.put, Self.rule(kind, id) + ["enabled"], body: ["enabled": true])
        case .delete(let kind, let id):
            do {
                _ = try await call(.delete, Self.rule(kind, id))
            } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
                // Another device has already deleted it.
            }
        }
    }

    private static func rule(_ kind: PushRuleSettings.Kind, _ id: String) -> [String] {
        ["client", "v3", "pushrules", "global", kind.rawValue, id]
    }
}
