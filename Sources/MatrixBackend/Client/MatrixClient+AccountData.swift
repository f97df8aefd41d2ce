import ChatCore
import JSONReading

/// Account data, which the server stores for all of the user's devices.
extension MatrixClient {
    private static func path(_ type: String, _ user: MemberID) -> [String] {
        ["client", "v3", "user", user.rawValue, "account_data", type]
    }

    /// - Returns: `nil` only if the server answers that there is none.
    func accountData(_ type: String, of user: MemberID) async throws -> JSONValue? {
        do {
            return try await call(.get, Self.path(type, user))
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }

    func setAccountData(_ type: String, _ content: JSONValue, of user: MemberID) async throws {
        _ = try await call(.put, Self.path(type, user), body: content)
    }
}
