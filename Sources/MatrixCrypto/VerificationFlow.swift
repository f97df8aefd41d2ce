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
    static let cancellation = prefix + "cancel"
    /// How long a verification may take, from its request on.
    static let lifetime: TimeInterval = 600
    /// How long an incoming request may be answered.
    static let requestLifetime: TimeInterval = 120
    /// How long to wait for the other side's `start` before sending one.
    static let startDelay: TimeInterval = 10

    /// Identifies it on this device.
    let id: ExactText
    /// The request's ID, which the messages of both sides name. In a room that is an event's ID, which is not known
    /// until the server has answered.
    private(set) var transaction: ExactText?
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
    /// The other side's `start`, until the keys of its device are known.
    private var earlyStart: JSONValue?
    /// Whether only the keys of the other device are missing.
    private var lacksKeys = false
    /// Whether the other side supports SAS.
    private var offersSAS = true
    /// Whether the user interface no longer shows it.
    private(set) var isHidden = false
    var inbox = VerificationInbox()

    // MARK: Beginning

    /// A request by this device. One in a room is without a transaction until ``wasSent(as:)``.
    init(asking user: ExactText, devices: [ExactText], as id: ExactText, over channel: Channel, at now: Date) {
        self.id = id
        transaction = channel == .devices ? id : nil
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
        transaction = id
        self.user = user
        self.channel = channel
        self.device = device
        isIncoming = true
        asked = []
        begun = min(sent, now)
        arrived = now
        offersSAS = methods.prefix(16).contains { $0.string == SasExchange.method }
        phase = .requested
    }

    private var arrived: Date?

    /// Records the event ID that a request in a room has.
    /// - Returns: The cancellation that could not be sent without it.
    mutating func wasSent(as event: ExactText) -> [Message] {
        guard transaction == nil else { return [] }
        transaction = event
        return hasEnded ? [Message(type: Self.cancellation, content: ["code": "m.user", "reason": "m.user"])] : []
    }

    // MARK: Crossed requests

    /// Whether this device has asked the side that the other request comes from.
    func isCrossed(by request: VerificationFlow) -> Bool {
        guard !isIncoming, phase == .waiting, request.phase == .requested, request.user == user, request.offersSAS,
            let device = request.device
        else { return false }
        switch (channel, request.channel) {
        case (.devices, .devices): return asked.contains(device)
        case (.room, .room): return true
        case (.devices, .room), (.room, .devices): return false
        }
    }

    /// Whether this request prevails over one that this device has sent: like with `start`, the one from the smaller
    /// user or device ID does.
    func prevails(over own: DeviceID) -> Bool {
        guard let device else { return false }
        return (user, device) < (own.user, own.device)
    }

    /// Ends this request in favor of the other side's.
    mutating func giveWay() -> [Message] {
        isHidden = true
        return cancel("m.accepted", .answeredElsewhere)
    }

    mutating func hide() { isHidden = true }

    var hasEnded: Bool {
        switch phase {
        case .done, .canceled: true
        case .requested, .waiting, .preparing, .comparing, .confirming: false
        }
    }

    /// When it times out, on both sides.
    var end: Date { begun.addingTimeInterval(Self.lifetime) }

    /// When to call ``tick(own:other:at:)`` next.
    var deadline: Date? {
        guard !hasEnded else { return nil }
        switch phase {
        case .requested: return min(end, (arrived ?? begun).addingTimeInterval(Self.requestLifetime))
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
                type: Self.cancellation, content: ["code": .string(code), "reason": .string(code)],
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

    /// Ends a completed verification that has not confirmed what it should, for example because the server rejects the
    /// signature.
    mutating func revoke(_ cancellation: Verification.Cancellation) {
        if phase == .done { phase = .canceled(cancellation) }
    }

    /// Tells the other side that its key was not verified, by the specification's meaning of the code.
    static let revocation = Message(
        type: cancellation,
        content: [
            "code": .string(SasExchange.Failure.keyMismatch.rawValue),
            "reason": .string(SasExchange.Failure.keyMismatch.rawValue),
        ])

    // MARK: Time

    /// Cancels the verification if it times out, or sends `start` if the other side does not.
    mutating func tick(own: SasExchange.Party?, other: SasExchange.Party?, at now: Date) throws -> [Message] {
        guard let deadline, now >= deadline else { return [] }
        if phase == .preparing, exchange == nil, now < end {
            // The other device's keys are still being queried.
            guard other != nil else {
                (readyAt, lacksKeys) = (now, true)
                return []
            }
            guard let content = earlyStart else { return try start(own: own, other: other) }
            return try take("start", content, own: own, other: other, at: now)
        }
        // A request that nobody has touched here may still be answered on another device: it is no longer shown.
        if phase == .requested {
            end(.timeout)
            return []
        }
        return cancel("m.timeout", .timeout)
    }

    /// Makes ``tick(own:other:at:)`` due if it waits for the keys of the other device, whose user has been queried.
    mutating func keysArrived() {
        if lacksKeys { (readyAt, lacksKeys) = (Date.distantPast, false) }
    }

    /// Whether the keys to compare are fixed.
    var hasExchange: Bool { exchange != nil }

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
            Message(type: Self.cancellation, content: ["code": "m.user", "reason": "m.user"], devices: asked)
        ]
    }

    private mutating func takeReady(
        _ content: JSONValue, own: SasExchange.Party?, other: SasExchange.Party?, at now: Date
    ) throws -> [Message] {
        guard let device = content["from_device"]?.exactText else { throw SasExchange.Failure.unexpectedMessage }
        // The user may have accepted on several devices, before the others learned that one was first.
        if let known = self.device, device != known { return [] }
        guard phase == .waiting else { throw SasExchange.Failure.unexpectedMessage }
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
                    type: Self.cancellation, content: ["code": "m.accepted", "reason": "m.accepted"],
                    devices: others))
        }
        // An unknown device is queried first; then `tick` sends `start`.
        guard other != nil else {
            lacksKeys = true
            return messages
        }
        return messages + (try start(own: own, other: other))
    }

    private mutating func start(own: SasExchange.Party?, other: SasExchange.Party?) throws -> [Message] {
        guard let own, let other else { throw SasExchange.Failure.keyMismatch }
        let content = SasExchange.start(from: own.device)
        guard let transaction, let whole = named(content) else { throw SasExchange.Failure.unexpectedMessage }
        exchange = try SasExchange(starting: whole, as: transaction, own: own, other: other)
        return [Message(type: Self.prefix + "start", content: content)]
    }

    private mutating func takeStart(
        _ content: JSONValue, own: SasExchange.Party?, other: SasExchange.Party?
    ) throws -> [Message] {
        guard phase == .preparing, let transaction, let device, content["from_device"]?.exactText == device else {
            throw SasExchange.Failure.unexpectedMessage
        }
        guard let own else { throw SasExchange.Failure.keyMismatch }
        guard let other else {
            guard exchange == nil else { throw SasExchange.Failure.keyMismatch }
            (earlyStart, lacksKeys) = (content, true)
            return []
        }
        if let exchange {
            guard exchange.isStarter else { throw SasExchange.Failure.unexpectedMessage }
            // Both sides have sent `start`: the one from the smaller user and device ID prevails.
            guard (other.user, other.device) < (own.user, own.device) else { return [] }
        }
        let (begun, accept) = try SasExchange.accepting(content, as: transaction, own: own, other: other)
        exchange = begun
        return [Message(type: Self.prefix + "accept", content: accept)]
    }

    private mutating func compare() throws {
        guard let strings = try exchange?.shortStrings() else { return }
        phase = .comparing(
            emoji: strings.emoji.compactMap { VerificationEmoji(index: $0) }, numbers: strings.numbers)
    }

    /// Checks the MACs once both sides have confirmed.
    /// - Returns: The proof, for ``conclude(_:)``; or the message that cancels the verification if it is wrong.
    mutating func proof() -> (proof: SasExchange.Proof?, messages: [Message]) {
        guard phase == .confirming else { return (nil, []) }
        do {
            return (try exchange?.proof(), [])
        } catch {
            return (nil, cancel(.keyMismatch, .failed))
        }
    }

    /// Ends the verification after its proof.
    /// - Parameter rejection: Why nothing is confirmed by the proof; `nil` if something is.
    mutating func conclude(_ rejection: Verification.Cancellation?) -> [Message] {
        // By the specification, this code says that the key was not verified.
        if let rejection { return cancel(.keyMismatch, rejection) }
        phase = .done
        return [Message(type: Self.prefix + "done", content: [:])]
    }

    /// A copy in which this device has answered.
    func answered(by device: ExactText) -> VerificationFlow {
        var flow = self
        flow.device = device
        return flow
    }

    /// Adds the transaction ID to the content of a message; `nil` if it is not known yet.
    func named(_ content: [String: JSONValue]) -> JSONValue? {
        guard let transaction else { return nil }
        var content = content
        switch channel {
        case .devices: content["transaction_id"] = .string(transaction.text)
        case .room: content["m.relates_to"] = ["rel_type": "m.reference", "event_id": .string(transaction.text)]
        }
        return .object(content)
    }

    /// The verification in the form the user interface shows.
    func value(deviceName: String, isOwn: Bool, isUnsent: Bool) -> Verification {
        Verification(
            id: id.text, user: MemberID(user.text), device: device?.text, deviceName: deviceName, isOwn: isOwn,
            isIncoming: isIncoming, phase: phase, isUnsent: isUnsent)
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
