public import ChatCore
public import Foundation
public import JSONReading

/// The running and recently ended verifications, oldest first. They are in memory only: they end with the program, and
/// time out on the other side.
struct Verifications {
    /// The limit of running incoming verifications; further requests are ignored.
    private static let maxRequests = 8
    private static let maxFlows = 32

    private(set) var flows: [VerificationFlow] = []

    func index(of id: ExactText) -> Int? { flows.firstIndex { $0.id == id } }

    subscript(index: Int) -> VerificationFlow {
        get { flows[index] }
        set { flows[index] = newValue }
    }

    mutating func add(_ flow: VerificationFlow) {
        guard index(of: flow.id) == nil else { return }
        if flow.isIncoming {
            guard flows.count(where: { $0.isIncoming && !$0.hasEnded }) < Self.maxRequests else { return }
        }
        flows.append(flow)
        if flows.count > Self.maxFlows, let ended = flows.firstIndex(where: \.hasEnded) { flows.remove(at: ended) }
    }

    /// Ends completed verifications of a device as failed.
    mutating func revoke(_ device: DeviceID) {
        for index in flows.indices where flows[index].user == device.user && flows[index].device == device.device {
            flows[index].revoke()
        }
    }

    mutating func remove(_ id: ExactText) { flows.removeAll { $0.id == id } }

    var deadline: Date? { flows.compactMap(\.deadline).min() }
}

/// A verification message to send into a room.
public struct VerificationRoomMessage: Equatable, Sendable {
    public let room: ExactText
    public let type: String
    public let content: [String: JSONValue]
}

/// A verification message received in a room.
public struct VerificationEvent: Equatable, Sendable {
    public let room: ExactText
    public let event: ExactText
    public let sender: ExactText
    public let type: String
    public let content: JSONValue
    public let sentAt: Date

    public init(
        room: ExactText, event: ExactText, sender: ExactText, type: String, content: JSONValue, sentAt: Date
    ) {
        self.room = room
        self.event = event
        self.sender = sender
        self.type = type
        self.content = content
        self.sentAt = sentAt
    }

    /// The `msgtype` of a verification request.
    public static let requestKind = "m.key.verification.request"
}
