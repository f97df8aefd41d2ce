public import ChatCore
import Synchronization

/// Returns user search results from a closure, and records calls.
public final class FakeUserDirectory: RoomCapabilityService, RoomMembersService {
    public enum Call: Equatable, Sendable {
        case search(String), create(RoomRequest), invite(String)
    }

    public let capabilities: BackendCapabilities = [.userDirectory, .invite]
    private let recorded = Mutex<[Call]>([])
    private let respond: @Sendable (Call) async throws -> [User]

    /// - Parameter answer: returns the users found; an error it throws becomes the call's error.
    public init(_ respond: @escaping @Sendable (Call) async throws -> [User] = { _ in [] }) { self.respond = respond }

    public var calls: [Call] { recorded.withLock { $0 } }

    public func users(matching text: String) async throws -> [User] { try await record(.search(text)) }

    public func createRoom(_ request: RoomRequest) async throws -> RoomID {
        _ = try await record(.create(request))
        return RoomID(request.name)
    }

    public func invite(_ address: String, to room: RoomID) async throws { _ = try await record(.invite(address)) }

    private func record(_ call: Call) async throws -> [User] {
        recorded.withLock { $0.append(call) }
        return try await respond(call)
    }
}
