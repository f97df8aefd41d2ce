public import ChatCore
public import Foundation
public import JSONReading

/// The verifications that are under way or have just ended, in the order in which they began. They are in memory alone: an
/// end of the program ends them, and the other side sees that nobody answers.
struct Verifications {
    /// Requests that came and are not answered: more are nobody's honest ones.
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

    mutating func remove(_ id: ExactText) { flows.removeAll { $0.id == id } }

    var deadline: Date? { flows.compactMap(\.deadline).min() }
}

/// A message of a verification that belongs into a room.
public struct VerificationRoomMessage: Equatable, Sendable {
    public let room: ExactText
    public let type: String
    public let content: [String: JSONValue]
}

/// A message of a verification that came in a room.
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

    /// What `m.room.message` calls a request.
    public static let requestKind = "m.key.verification.request"
}
