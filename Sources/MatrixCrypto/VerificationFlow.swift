import ChatCore
import Foundation
import JSONReading

/// One verification from its request to its end: a state machine over the messages of both sides.
struct VerificationFlow {
    enum Channel: Equatable {
        /// To-device messages, between devices of one user.
        case devices
        /// Messages in a room.
        case room(ExactText)
    }

    /// A message to the other side, without the transaction ID.
    struct Message: Equatable {
        let type: String
        let content: [String: JSONValue]
        /// The devices to send it to; `nil` for the one that has answered.
        var devices: [ExactText]?
    }

    static let prefix = "m.key.verification."
    /// How long a verification may take, from its request on.
    static let lifetime: TimeInterval = 600
    /// How long an incoming request may be answered.
    static let requestLifetime: TimeInterval = 120
    /// How long to wait for the other side's `start` before sending one.
    static let startDelay: TimeInterval = 10

    let id: ExactText
    let channel: Channel
    let user: ExactText
    let isIncoming: Bool
    let begun: Date
    /// The devices that the request was sent to.
    let asked: [ExactText]
    private(set) var device: ExactText?
    private(set) var phase: Verification.Phase
    private var exchange: SasExchange?
    private var readyAt: Date?
    /// Whether the other side supports SAS.
    private var offersSAS = true

    // MARK: Beginning

    /// A request by this device.
    init(asking user: ExactText, devices: [ExactText], as id: ExactText, over channel: Channel, at now: Date) {
        self.id = id
        self.user = user
        self.channel = channel
        isIncoming = false
        asked = devices
        begun = now
        phase = .waiting
    }

    /// An incoming request; `nil` if it is too old or malformed.
    init?(
        request content: JSONValue, as id: ExactText, from user: ExactText, over channel: Channel, sentAt: Date?,
        at now: Date
    ) {
        guard let device = content["from_device"]?.exactText, !device.bytes.isEmpty,
            device.bytes.count <= DeviceKeys.maxIdentifier, let methods = content["methods"]?.array
        else { return nil }
        let stated = content["timestamp"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        let sent = sentAt ?? stated ?? now
        guard abs(now.timeIntervalSince(sent)) < Self.lifetime else { return nil }
        self.id = id
        self.user = user
        self.channel = channel
        self.device = device
        isIncoming = true
        asked = []
        begun = min(sent, now)
        received = now
        offersSAS = methods.prefix(16).contains { $0.string == SasExchange.method }
        phase = .requested
    }

    private var received: Date?

    var hasEnded: Bool {
        switch phase {
        case .done, .canceled: true
        case .requested, .waiting, .preparing, .comparing, .confirming: false
        }
    }

    /// When to call ``tick(own:other:at:)`` next.
    var deadline: Date? {
        guard !hasEnded else { return nil }
        let end = begun.addingTimeInterval(Self.lifetime)
        switch phase {
        case .requested: return min(end, (received ?? begun).addingTimeInterval(Self.requestLifetime))
        case .preparing where exchange == nil:
            return min(end, (readyAt ?? begun).addingTimeInterval(Self.startDelay))
        default: return end
        }
    }

    // MARK: The user

    /// Performs an action of the local user.
    mutating func perform(_ action: Verification.Action, device own: ExactText, at now: Date) throws -> [Message] {
        guard !hasEnded else { return [] }
        switch action {
        case .accept:
            guard phase == .requested else { return [] }
            // Another of the user's devices may support the request.
            guard offersSAS else {
                end(.unsupported)
                return []
            }
            phase = .preparing
            readyAt = now
            return [
                Message(
                    type: Self.prefix + "ready",
                    content: ["from_device": .string(own.text), "methods": [.string(SasExchange.method)]])
            ]
        case .cancel, .dismiss: return cancel("m.user", .here)
        case .reportMismatch: return cancel(.mismatchedSAS, .mismatch)
        case .confirmMatch:
            guard case .comparing = phase, let mac = try exchange?.confirm() else { return [] }
            phase = .confirming
            return [Message(type: Self.prefix + "mac", content: mac)]
        }
    }

    private mutating func cancel(_ code: String, _ cancellation: Verification.Cancellation) -> [Message] {
        phase = .canceled(cancellation)
        let devices = device == nil ? asked : nil
        return [
            Message(
                type: Self.prefix + "cancel", content: ["code": .string(code), "reason": .string(code)],
                devices: devices)
        ]
    }

    private mutating func cancel(
        _ failure: SasExchange.Failure, _ cancellation: Verification.Cancellation
    ) -> [Message] {
        cancel(failure.rawValue, cancellation)
    }

    /// Ends the verification without a message, as when another device has answered.
    mutating func end(_ cancellation: Verification.Cancellation) {
        if !hasEnded { phase = .canceled(cancellation) }
    }

    /// Ends a completed verification as failed, because the server does not store its signature.
    mutating func revoke() {
        if phase == .done { phase = .canceled(.failed) }
    }

    // MARK: Time

    /// Cancels the verification if it times out, or sends `start` if the other side does not.
    mutating func tick(own: SasExchange.Party?, other: SasExchange.Party?, at now: Date) throws -> [Message] {
        guard let deadline, now >= deadline else { return [] }
        if phase == .preparing, exchange == nil, now < begun.addingTimeInterval(Self.lifetime) {
            // The other device's keys are still being queried.
            guard other != nil else {
                readyAt = now
                return []
            }
            return try start(own: own, other: other)
        }
        // A request that nobody has touched here may still be answered on another device: it is no longer shown.
        if phase == .requested {
            end(.timeout)
            return []
        }
        return cancel("m.timeout", .timeout)
    }

    // MARK: The other side

    /// Processes a message from the other side.
    /// - Parameters:
    ///   - type: The event type without ``prefix``.
    ///   - other: The other device as currently known; `nil` if it is not known.
    mutating func take(
        _ type: String, _ content: JSONValue, own: SasExchange.Party?, other: SasExchange.Party?, at now: Date
    ) throws -> [Message] {
        guard !hasEnded else { return [] }
        do {
            switch type {
            case "ready": return try takeReady(content, own: own, other: other, at: now)
            case "start": return try takeStart(content, own: own, other: other)
            case "accept":
                guard let key = try exchange?.received(accept: content) else {
                    throw SasExchange.Failure.unexpectedMessage
                }
                return [Message(type: Self.prefix + "key", content: key)]
            case "key":
                guard exchange != nil else { throw SasExchange.Failure.unexpectedMessage }
                let key = try exchange?.received(key: content)
                try compare()
                return key.map { [Message(type: Self.prefix + "key", content: $0)] } ?? []
            case "mac":
                guard exchange != nil else { throw SasExchange.Failure.unexpectedMessage }
                try exchange?.received(mac: content)
                return []
            case "cancel": return takeCancel(content)
            // `done` is ignored: only the other side's MACs count.
            default: return []
            }
        } catch let failure as SasExchange.Failure {
            return cancel(failure, Verification.Cancellation(code: failure.rawValue))
        }
    }

    /// - Returns: What tells the other devices that one of them has declined the request (specification, "Key
    ///   verification framework"). The message does not say which one, so it goes to all.
    private mutating func takeCancel(_ content: JSONValue) -> [Message] {
        phase = .canceled(Verification.Cancellation(code: content["code"]?.string))
        guard device == nil, asked.count > 1 else { return [] }
        return [
            Message(type: Self.prefix + "cancel", content: ["code": "m.user", "reason": "m.user"], devices: asked)
        ]
    }

    private mutating func takeReady(
        _ content: JSONValue, own: SasExchange.Party?, other: SasExchange.Party?, at now: Date
    ) throws -> [Message] {
        guard phase == .waiting, let device = content["from_device"]?.exactText else {
            throw SasExchange.Failure.unexpectedMessage
        }
        guard asked.isEmpty || asked.contains(device) else { throw SasExchange.Failure.userMismatch }
        guard content["methods"]?.array?.prefix(16).contains(where: { $0.string == SasExchange.method }) == true else {
            throw SasExchange.Failure.unknownMethod
        }
        self.device = device
        phase = .preparing
        readyAt = now
        let others = asked.filter { $0 != device }
        var messages: [Message] = []
        if !others.isEmpty {
            messages.append(
                Message(
                    type: Self.prefix + "cancel", content: ["code": "m.accepted", "reason": "m.accepted"],
                    devices: others))
        }
        // An unknown device is queried first; then `tick` sends `start`.
        guard other != nil else { return messages }
        return messages + (try start(own: own, other: other))
    }

    private mutating func start(own: SasExchange.Party?, other: SasExchange.Party?) throws -> [Message] {
        guard let own, let other else { throw SasExchange.Failure.keyMismatch }
        let content = SasExchange.start(from: own.device)
        exchange = try SasExchange(starting: named(content), as: id, own: own, other: other)
        return [Message(type: Self.prefix + "start", content: content)]
    }

    private mutating func takeStart(
        _ content: JSONValue, own: SasExchange.Party?, other: SasExchange.Party?
    ) throws -> [Message] {
        guard phase == .preparing, let device, content["from_device"]?.exactText == device else {
            throw SasExchange.Failure.unexpectedMessage
        }
        guard let own, let other else { throw SasExchange.Failure.keyMismatch }
        if let exchange {
            guard exchange.isStarter else { throw SasExchange.Failure.unexpectedMessage }
            // Both sides have sent `start`: the one from the smaller user and device ID prevails.
            guard (other.user, other.device) < (own.user, own.device) else { return [] }
        }
        let (begun, accept) = try SasExchange.accepting(content, as: id, own: own, other: other)
        exchange = begun
        return [Message(type: Self.prefix + "accept", content: accept)]
    }

    private mutating func compare() throws {
        guard let strings = try exchange?.shortStrings() else { return }
        phase = .comparing(
            emoji: strings.emoji.compactMap { VerificationEmoji(index: $0) }, numbers: strings.numbers)
    }

    /// Completes the verification once it is proven; returns the proof exactly once.
    mutating func finish() -> (proof: SasExchange.Proof?, messages: [Message]) {
        guard phase == .confirming else { return (nil, []) }
        do {
            guard let proof = try exchange?.proof() else { return (nil, []) }
            phase = .done
            return (proof, [Message(type: Self.prefix + "done", content: [:])])
        } catch {
            return (nil, cancel(.keyMismatch, .failed))
        }
    }

    /// A copy in which this device has answered.
    func answered(by device: ExactText) -> VerificationFlow {
        var flow = self
        flow.device = device
        return flow
    }

    /// Adds the transaction ID to the content of a message.
    func named(_ content: [String: JSONValue]) -> JSONValue {
        var content = content
        switch channel {
        case .devices: content["transaction_id"] = .string(id.text)
        case .room: content["m.relates_to"] = ["rel_type": "m.reference", "event_id": .string(id.text)]
        }
        return .object(content)
    }

    /// The verification in the form the user interface shows.
    func value(deviceName: String, isOwn: Bool) -> Verification {
        Verification(
            id: id.text, user: MemberID(user.text), device: device?.text, deviceName: deviceName, isOwn: isOwn,
            isIncoming: isIncoming, phase: phase)
    }
}

extension Verification.Cancellation {
    fileprivate init(code: String?) {
        self =
            switch code {
            case "m.user": .there
            case "m.timeout": .timeout
            case "m.accepted": .answeredElsewhere
            case "m.unknown_method": .unsupported
            case "m.mismatched_sas", "m.mismatched_commitment": .mismatch
            default: .failed
            }
    }
}
