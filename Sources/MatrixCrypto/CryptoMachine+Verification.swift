public import ChatCore
public import Foundation
public import JSONReading
import Ratchets

/// Verification of the user's own devices by to-device messages, and of other users in a room.
extension CryptoMachine {
    public enum VerificationFailure: Error, Hashable, Sendable {
        /// There is no confirmed device to ask, or none with this ID.
        case noDevice
        /// The user has no identity to verify.
        case noIdentity
        /// The user has another identity than the one that was to be accepted.
        case otherIdentity
        /// This device must be confirmed first; otherwise its statements about others carry no weight.
        case unconfirmed
    }

    /// All running and recently ended verifications, in the form the user interface shows.
    public func verifications() async throws -> [Verification] {
        try await change { state, _ in
            var values: [Verification] = []
            for flow in state.verifications.flows where !flow.isHidden {
                var name = ""
                if let device = flow.device {
                    name = try await devices(of: flow.user, &state.tracker).first { $0.device == device }?.name ?? ""
                }
                let isUnsent =
                    state.isUnanswered && !flow.hasEnded && flow.channel == .devices
                    && state.outgoing.holdsMessage(ofVerification: flow.id)
                values.append(flow.value(deviceName: name, isOwn: flow.user == user, isUnsent: isUnsent))
            }
            return values
        }
    }

    /// Requests verification with the user's other devices. The messages are queued for ``nextRequest(at:)``.
    /// - Parameter device: The device to ask; `nil` for all confirmed ones.
    public func verifyDevice(_ device: ExactText?, at now: Date) async throws -> ExactText {
        try await change { state, _ in
            let others = try await devices(of: user, &state.tracker)
                .filter { $0.device != self.device && !$0.isDisputed }
            let asked = others.filter { keys in
                if let device { return keys.device == device }
                return state.own?.confirms(keys) ?? false
            }
            guard !asked.isEmpty else { throw VerificationFailure.noDevice }
            let id = ExactText(try DeviceWriter.transaction())
            let flow = VerificationFlow(
                asking: user, devices: asked.map(\.device), as: id, over: .devices, at: now)
            var content = Self.request(from: self.device)
            content["timestamp"] = .integer(Int64(now.timeIntervalSince1970 * 1000))
            let message = VerificationFlow.Message(
                type: VerificationFlow.prefix + "request", content: content, devices: asked.map(\.device))
            state.verifications.add(flow)
            _ = try state.send([message], of: flow)
            return id
        }
    }

    /// The content of an `m.room.message` that requests verification from a user.
    public func verificationRequest(to other: ExactText) async throws -> [String: JSONValue] {
        try await change { state, _ in
            guard state.own?.isVerified == true else { throw VerificationFailure.unconfirmed }
            guard try await Identity.stored(other, in: storage) != nil else { throw VerificationFailure.noIdentity }
            var content = Self.request(from: device)
            content["msgtype"] = .string(VerificationEvent.requestKind)
            content["to"] = .string(other.text)
            // Shown by clients without support for verification.
            content["body"] = .string("\(user) is requesting to verify your key, but your client does not support it.")
            return content
        }
    }

    private static func request(from device: ExactText) -> [String: JSONValue] {
        ["from_device": .string(device.text), "methods": [.string(SasExchange.method)]]
    }

    /// Registers a verification request that is about to be sent into a room, so that no answer to it is missed.
    /// - Parameter transaction: The transaction ID that it is sent with, which also identifies the verification here.
    public func willRequestVerification(
        of other: ExactText, as transaction: ExactText, in room: ExactText, at now: Date
    ) async throws {
        try await change { state, _ in
            state.tracker.track([other])
            state.verifications.add(
                VerificationFlow(asking: other, devices: [], as: transaction, over: .room(room), at: now))
        }
    }

    /// Records as which event a verification request was sent, and processes the answers that came before.
    public func didRequestVerification(
        _ transaction: ExactText, as event: ExactText, at now: Date
    ) async throws -> [VerificationRoomMessage] {
        try await change { state, change in
            try await noteSent(transaction, as: event, &state, &change, at: now)
        }
    }

    /// Whether a verification request still has to be sent into its room: it has not ended, and no event is known to be
    /// it.
    public func isVerificationRequestDue(_ transaction: ExactText) async throws -> Bool {
        try await change { state, _ in
            guard let index = state.verifications.index(of: transaction) else { return false }
            let flow = state.verifications[index]
            return flow.transaction == nil && !flow.hasEnded
        }
    }

    /// Ends a verification of whose messages one cannot be sent, so that the other side cannot go on.
    public func endUndeliverableVerification(_ id: ExactText) async throws {
        try await change { state, _ in
            guard let index = state.verifications.index(of: id) else { return }
            state.verifications[index].end(.undeliverable)
        }
    }

    /// Removes a verification request that was certainly not delivered.
    public func withdrawVerificationRequest(_ transaction: ExactText) async throws {
        try await change { state, _ in state.verifications.remove(transaction) }
    }

    private func noteSent(
        _ transaction: ExactText, as event: ExactText, _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws -> [VerificationRoomMessage] {
        guard let index = state.verifications.index(of: transaction),
            state.verifications[index].transaction == nil
        else { return [] }
        var flow = state.verifications[index]
        let messages = flow.wasSent(as: event)
        let early = flow.inbox.releaseEarly()
        state.verifications[index] = flow
        var sent = try state.send(messages, of: flow)
        if flow.isHidden { state.verifications.remove(flow.id) }
        for event in early { sent += try await take(event, &state, &change, at: now) }
        return sent
    }

    /// - Returns: The messages to send into rooms, in order.
    public func perform(_ action: Verification.Action, in id: ExactText, at now: Date) async throws
        -> [VerificationRoomMessage]
    {
        try await change { state, change in
            guard let index = state.verifications.index(of: id) else { return [] }
            var flow = state.verifications[index]
            if action == .dismiss, flow.hasEnded {
                state.verifications.dismiss(id)
                return []
            }
            let messages = try flow.perform(action, device: device, at: now)
            return try await advance(flow, messages, at: index, &state, &change)
        }
    }

    /// Processes verification messages from rooms, including decrypted ones.
    public func received(_ events: [VerificationEvent], at now: Date) async throws -> [VerificationRoomMessage] {
        guard !events.isEmpty else { return [] }
        return try await change { state, change in
            var sent: [VerificationRoomMessage] = []
            for event in events { sent += try await take(event, &state, &change, at: now) }
            return sent
        }
    }

    /// Cancels verifications that time out, and starts those that the other side does not start.
    public func tickVerifications(at now: Date) async throws -> [VerificationRoomMessage] {
        try await change { state, change in
            var sent: [VerificationRoomMessage] = []
            for id in state.verifications.flows.map(\.id) {
                guard let index = state.verifications.index(of: id) else { continue }
                var flow = state.verifications[index]
                guard let deadline = flow.deadline, deadline <= now else { continue }
                let other = try await party(flow, &state)
                let messages = try flow.tick(own: state.ownParty(user, device), other: other, at: now)
                sent += try await advance(flow, messages, at: index, &state, &change)
            }
            return sent
        }
    }

    /// When to call ``tickVerifications(at:)`` next; `nil` if no verification is running.
    public func verificationDeadline() async throws -> Date? {
        try await change { state, _ in state.verifications.deadline }
    }

    // MARK: Taking messages

    private func take(
        _ event: VerificationEvent, _ state: inout State, _ change: inout CryptoChange, at now: Date
    ) async throws -> [VerificationRoomMessage] {
        if event.type == "m.room.message" {
            guard event.content["msgtype"]?.string == VerificationEvent.requestKind else { return [] }
            if event.sender == user {
                // The response to this device's request may be lost or late.
                guard let transaction = event.transaction else { return [] }
                return try await noteSent(transaction, as: event.event, &state, &change, at: now)
            }
            guard event.content["to"]?.exactText == user,
                let flow = VerificationFlow(
                    request: event.content, as: event.event, from: event.sender, over: .room(event.room),
                    sentAt: event.sentAt, at: now)
            else { return [] }
            state.tracker.track([event.sender])
            return try add(flow, &state, at: now)
        }
        guard event.type.hasPrefix(VerificationFlow.prefix),
            let id = event.content["m.relates_to"]?["event_id"]?.exactText
        else { return [] }
        guard let index = state.verifications.index(naming: id, over: .room(event.room)) else {
            state.verifications.hold(event)
            return []
        }
        var flow = state.verifications[index]
        let type = String(event.type.dropFirst(VerificationFlow.prefix.count))
        guard event.sender != user else {
            // An echo of this device's own message, possibly from history after a restart; or another device of the
            // user has answered the same request.
            if type == "ready" || type == "cancel", flow.phase == .requested {
                flow.end(.answeredElsewhere)
                state.verifications[index] = flow
            }
            return []
        }
        guard event.sender == flow.user, flow.inbox.isNew(.event(event.event)) else { return [] }
        let messages = try await take(type, event.content, in: &flow, &state, at: now)
        return try await advance(flow, messages, at: index, &state, &change)
    }

    /// Processes a to-device verification message.
    func takeVerification(
        _ type: String, _ content: JSONValue, from sender: ExactText, _ state: inout State,
        _ change: inout CryptoChange, at now: Date
    ) async throws {
        // Other users are verified in a room, where their server cannot choose the device.
        guard sender == user, let id = content["transaction_id"]?.exactText, !id.bytes.isEmpty, id.bytes.count <= 255
        else { return }
        let kind = String(type.dropFirst(VerificationFlow.prefix.count))
        if kind == "request" {
            guard content["from_device"]?.exactText != device,
                let flow = VerificationFlow(
                    request: content, as: id, from: sender, over: .devices, sentAt: nil, at: now)
            else { return }
            _ = try add(flow, &state, at: now)
            return
        }
        guard let index = state.verifications.index(naming: id, over: .devices) else {
            guard let cancellation = state.verifications.cancelUnknown(id, after: kind, content) else { return }
            return try await send(cancellation, &state)
        }
        var flow = state.verifications[index]
        guard flow.user == sender, flow.inbox.isNew(.message(kind, content)) else { return }
        if kind == "cancel", flow.phase == .done, !state.isOwnDeviceConfirmed {
            // The other device was to confirm this one, and has not.
            flow.revoke(.there)
            state.verifications[index] = flow
            return
        }
        let messages = try await take(kind, content, in: &flow, &state, at: now)
        _ = try await advance(flow, messages, at: index, &state, &change)
    }

    private func send(_ cancellation: UnknownVerifications.Cancellation, _ state: inout State) async throws {
        for keys in try await devices(of: user, &state.tracker) where keys.device != device {
            guard cancellation.device == nil || keys.device == cancellation.device else { continue }
            let message = try DeviceMessage(
                VerificationFlow.cancellation, cancellation.content, to: keys.device, of: user)
            state.outgoing.add(.message(message))
        }
    }

    /// Adds an incoming request. If this device has just asked the same side, only one of the two requests goes on:
    /// otherwise, both sides would wait for each other.
    private func add(
        _ request: VerificationFlow, _ state: inout State, at now: Date
    ) throws -> [VerificationRoomMessage] {
        guard state.verifications.add(request), request.prevails(over: DeviceID(user: user, device: device)),
            let crossed = state.verifications.flows.firstIndex(where: { $0.isCrossed(by: request) }),
            let index = state.verifications.index(of: request.id)
        else { return [] }
        var (accepted, given) = (request, state.verifications[crossed])
        let answer = try accepted.perform(.accept, device: device, at: now)
        state.verifications[index] = accepted
        let cancellation = given.giveWay()
        state.verifications[crossed] = given
        let sent = try state.send(answer, of: accepted) + state.send(cancellation, of: given)
        state.verifications.dismiss(given.id)
        return sent
    }

    private func take(
        _ type: String, _ content: JSONValue, in flow: inout VerificationFlow, _ state: inout State, at now: Date
    ) async throws -> [VerificationFlow.Message] {
        let before = flow
        var named = flow
        // Only the answer names the device whose keys are compared.
        if flow.device == nil, let device = content["from_device"]?.exactText { named = flow.answered(by: device) }
        let other = try await party(named, &state)
        let messages = try flow.take(type, content, own: state.ownParty(user, device), other: other, at: now)
        if before.phase == .waiting, flow.phase == .preparing {
            state.verifications.end(crossing: before, acceptedBy: flow.device)
        }
        return messages
    }

    /// - Returns: `nil` while the other device is not known, or only by an outdated list before the keys are compared.
    private func party(_ flow: VerificationFlow, _ state: inout State) async throws -> SasExchange.Party? {
        guard let id = flow.device else { return nil }
        state.tracker.track([flow.user])
        guard flow.hasExchange || !state.tracker.holdsUp(flow.user) else { return nil }
        let devices = try await devices(of: flow.user, &state.tracker)
        guard let keys = devices.first(where: { $0.device == id }), !keys.isDisputed else { return nil }
        let identity = flow.user == user ? state.own : try await Identity.stored(flow.user, in: storage)
        return SasExchange.Party(
            user: flow.user, device: id, signingKey: keys.signingKey, master: identity?.master)
    }

    /// Sends a verification's messages and applies its proof.
    private func advance(
        _ changed: VerificationFlow, _ messages: [VerificationFlow.Message], at index: Int, _ state: inout State,
        _ change: inout CryptoChange
    ) async throws -> [VerificationRoomMessage] {
        var flow = changed
        var sent = try state.send(messages, of: flow)
        let (proof, failure) = flow.proof()
        var last = failure
        if let proof {
            let rejection = try await take(proof, &state, &change)
            last = flow.conclude(rejection)
        }
        state.verifications[index] = flow
        sent += try state.send(last, of: flow)
        // Only after the last message: a device drops secret requests from devices that it has not verified yet.
        if let proof, flow.phase == .done, proof.party.user == user {
            try await requestSecrets(of: [proof.party.device], &state)
        }
        return sent
    }

    // MARK: Proofs

    /// Confirms what the proof covers.
    /// - Returns: Why nothing is confirmed; `nil` if something is.
    private func take(
        _ proof: SasExchange.Proof, _ state: inout State, _ change: inout CryptoChange
    ) async throws -> Verification.Cancellation? {
        proof.party.user == user
            ? try await takeOwn(proof, &state, &change) : try await takeOther(proof, &state, &change)
    }

    private func takeOwn(
        _ proof: SasExchange.Proof, _ state: inout State, _ change: inout CryptoChange
    ) async throws -> Verification.Cancellation? {
        guard var own = state.own else { return .unconfirmedHere }
        let keys = try await devices(of: user, &state.tracker).first { $0.device == proof.party.device }
        guard var keys, keys.signingKey == proof.party.signingKey, !keys.isDisputed else { return .failed }
        if !own.isVerified {
            // Only a device that the identity confirms can vouch for the identity.
            guard own.confirms(keys) else { return .unconfirmedHere }
            guard proof.coversMaster else { return .unconfirmedThere }
            guard proof.party.master == own.master else { return .failed }
            try await confirm(&own, &state, &change)
        } else if !own.confirms(keys) {
            guard let seed = try await PrivateKeys.stored(.selfSigning, in: storage, key: key) else {
                return .keyMissing
            }
            let selfSigning = try SigningKey(seed: seed)
            guard selfSigning.publicKey == own.selfSigning else { return .keyMissing }
            guard let bytes = keys.object, let object = try? JSONValue(parsing: bytes).object else { return .failed }
            let id = ExactText("\(selfSigning.publicKey)")
            let signed = try SignedJSON.signed(object, by: user, keyID: id) { try selfSigning.sign($0) }
            try state.upload(.object(signed), as: keys.device, of: user)
            // Confirmed at once, so that its secret requests need not wait for the server.
            keys.confirmedBy = selfSigning.publicKey
            change.merge(CryptoChange(put: [try keys.record()]))
            state.changedUsers.insert(user)
            state.tracker.noteTrustChanged()
        }
        return nil
    }

    private func takeOther(
        _ proof: SasExchange.Proof, _ state: inout State, _ change: inout CryptoChange
    ) async throws -> Verification.Cancellation? {
        guard let own = state.own, own.isVerified else { return .unconfirmedHere }
        guard proof.coversMaster else { return .unconfirmedThere }
        guard var identity = try await Identity.stored(proof.party.user, in: storage),
            identity.master == proof.party.master
        else { return .failed }
        identity.verify()
        // Without the user-signing key, only this device knows of the verification until the key arrives.
        let seed = try await PrivateKeys.stored(.userSigning, in: storage, key: key)
        if let seed, try sign(identity, of: proof.party.user, with: seed, &state) {
            identity.noteSigned()
        } else {
            identity.oweSignature()
        }
        try state.put(identity, of: proof.party.user, ownUser: user, &change)
        return nil
    }
}

extension CryptoMachine.State {
    /// Whether the user's identity, as this device has verified it, confirms this device.
    fileprivate var isOwnDeviceConfirmed: Bool {
        guard let own, own.isVerified, let confirmedBy else { return false }
        return confirmedBy == own.selfSigning
    }

    fileprivate func ownParty(_ user: ExactText, _ device: ExactText) -> SasExchange.Party {
        // A master key that this device has not confirmed is only the server's claim.
        let master = own.flatMap { $0.isVerified ? $0.master : nil }
        return SasExchange.Party(
            user: user, device: device, signingKey: upkeep.account.signingKey, master: master)
    }

    /// Ends the completed verifications of a device of the user that the server lets nobody confirm, and tells the
    /// device.
    mutating func revokeVerifications(of device: DeviceID) throws {
        for flow in verifications.revoke(of: device.user, device.device) {
            _ = try send([VerificationFlow.revocation], of: flow)
        }
    }

    /// Queues messages to devices.
    /// - Returns: The messages to send into a room.
    fileprivate mutating func send(
        _ messages: [VerificationFlow.Message], of flow: VerificationFlow
    ) throws -> [VerificationRoomMessage] {
        let messages = try VerificationMessages(messages, of: flow)
        for message in messages.toDevices { outgoing.add(.message(message)) }
        return messages.toRoom
    }
}
