public import ChatCore
public import Foundation
public import JSONReading

/// The running and recently ended verifications, oldest first. They are in memory only: they end with the program.
/// The user's other devices learn so from the answer to their next message; in a room, the other side times out.
struct Verifications {
    /// The limits of running incoming verifications, one of the user's own devices, one of all other users, and one of
    /// each of these; further requests are ignored. Thus, nobody can keep a request of the user's new device from being
    /// shown.
    private static let maxRequests = 8
    private static let maxRequestsOfOther = 2
    private static let maxFlows = 32
    private static let maxRemoved = 64

    private(set) var flows: [VerificationFlow] = []
    /// Verifications that were removed lately: the server may repeat their requests.
    private var removed: [ExactText] = []
    private var unknown = UnknownVerifications()

    func index(of id: ExactText) -> Int? { flows.firstIndex { $0.id == id } }

    /// The verification whose messages name this transaction.
    func index(naming transaction: ExactText, over channel: VerificationFlow.Channel) -> Int? {
        flows.firstIndex { $0.transaction == transaction && $0.channel == channel }
    }

    subscript(index: Int) -> VerificationFlow {
        get { flows[index] }
        set { flows[index] = newValue }
    }

    /// - Returns: Whether it was added; otherwise it is known, or one of too many.
    @discardableResult
    mutating func add(_ flow: VerificationFlow) -> Bool {
        guard index(of: flow.id) == nil, !removed.contains(flow.id),
            !flows.contains(where: { $0.transaction == flow.id })
        else { return false }
        if flow.isIncoming {
            // Only the user's own devices ask by to-device messages.
            let isOwn = flow.channel == .devices
            let running = flows.filter { $0.isIncoming && !$0.hasEnded && ($0.channel == .devices) == isOwn }
            let limit = isOwn ? Self.maxRequests : Self.maxRequestsOfOther
            guard running.count < Self.maxRequests, running.count(where: { $0.user == flow.user }) < limit else {
                return false
            }
        }
        flows.append(flow)
        if flows.count > Self.maxFlows, let ended = flows.firstIndex(where: \.hasEnded) { remove(flows[ended].id) }
        return true
    }

    /// Goes on with what waits for the keys of a user's devices.
    mutating func keysArrived(of user: ExactText) {
        for index in flows.indices where flows[index].user == user { flows[index].keysArrived() }
    }

    /// Keeps a message that may answer a request whose event's ID is not known yet.
    mutating func hold(_ event: VerificationEvent) {
        for index in flows.indices
        where flows[index].transaction == nil && flows[index].channel == .room(event.room)
            && flows[index].user == event.sender
        {
            flows[index].inbox.hold(event)
        }
    }

    /// Ends the requests of a side that has accepted ours.
    /// - Parameters:
    ///   - asked: Our request as it was before.
    ///   - device: The device that has accepted it.
    mutating func end(crossing asked: VerificationFlow, acceptedBy device: ExactText?) {
        for index in flows.indices where asked.isCrossed(by: flows[index]) {
            guard asked.channel != .devices || flows[index].device == device else { continue }
            flows[index].end(.answeredElsewhere)
        }
    }

    /// Ends completed verifications whose signature the server rejects.
    /// - Parameter device: The device that they were to confirm; `nil` for all of the user, whose identity they were to
    ///   verify.
    /// - Returns: Those that it has ended.
    mutating func revoke(of user: ExactText, _ device: ExactText? = nil) -> [VerificationFlow] {
        var revoked: [VerificationFlow] = []
        for index in flows.indices where flows[index].user == user && flows[index].phase == .done {
            guard device == nil || flows[index].device == device else { continue }
            flows[index].revoke(.signatureRejected)
            revoked.append(flows[index])
        }
        return revoked
    }

    /// Cancels a verification that a message names and that is not here, unless it was removed lately
    /// (``UnknownVerifications/cancel(_:after:_:)``).
    mutating func cancelUnknown(
        _ transaction: ExactText, after kind: String, _ content: JSONValue
    ) -> UnknownVerifications.Cancellation? {
        removed.contains(transaction) ? nil : unknown.cancel(transaction, after: kind, content)
    }

    mutating func remove(_ id: ExactText) {
        flows.removeAll { $0.id == id }
        removed.append(id)
        if removed.count > Self.maxRemoved { removed.removeFirst() }
    }

    /// Removes an ended verification; while its request is being sent it is only hidden, as it has to be canceled then.
    mutating func dismiss(_ id: ExactText) {
        guard let index = index(of: id) else { return }
        if flows[index].transaction == nil { flows[index].hide() } else { remove(id) }
    }

    var deadline: Date? { flows.compactMap(\.deadline).min() }
}

/// A verification message to send into a room.
public struct VerificationRoomMessage: Equatable, Sendable {
    /// The verification, as it is identified on this device.
    public let verification: ExactText
    /// The user on the other side.
    public let user: ExactText
    public let room: ExactText
    public let type: String
    public let content: [String: JSONValue]
    /// When both sides give the verification up, so that the message is useless.
    public let end: Date
}

/// A verification message received in a room.
public struct VerificationEvent: Equatable, Sendable {
    public let room: ExactText
    public let event: ExactText
    public let sender: ExactText
    public let type: String
    public let content: JSONValue
    public let sentAt: Date
    /// The transaction ID with which this device has sent it; `nil` for others' events.
    public let transaction: ExactText?

    public init(
        room: ExactText, event: ExactText, sender: ExactText, type: String, content: JSONValue, sentAt: Date,
        transaction: ExactText? = nil
    ) {
        self.room = room
        self.event = event
        self.sender = sender
        self.type = type
        self.content = content
        self.sentAt = sentAt
        self.transaction = transaction
    }

    /// The `msgtype` of a verification request.
    public static let requestKind = "m.key.verification.request"
}
