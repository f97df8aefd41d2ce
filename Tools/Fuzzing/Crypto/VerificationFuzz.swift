import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// Verifications between two machines of one user or of two. Messages are modified, dropped and repeated, while the
/// users perform any action at any time.
struct VerificationFuzz: CryptoFuzz {
    private struct Side {
        let machine: CryptoMachine
        /// The messages on their way to this side.
        var inbox: [Letter] = []
        var shown: Verification.Phase?
        var hasConfirmed = false
    }

    private struct Letter {
        let type: String
        var content: JSONValue
        /// Whether it is an event in a room.
        let isEvent: Bool
    }

    private static let room: ExactText = "!r:b"
    private static let maxSteps = 40

    private let damage: JSONDamage
    private var now = Date(timeIntervalSince1970: 1_000_000)
    private var events = 0
    private var ownDevices: [Side] = []
    private var users: [Side] = []

    init() async throws {
        damage = JSONDamage([
            "@me:b", "@a:b", "OLD", "NEW", "m.sas.v1", "hkdf-hmac-sha256", "hkdf-hmac-sha256.v2", "decimal", "emoji",
            "m.user", "m.accepted", "m.reference", "ed25519:OLD", "ed25519:NEW", "sha256",
        ])
        try await makeOwnDevices()
        try await makeUsers()
    }

    // MARK: Sides

    private static func machine(_ user: ExactText, _ device: ExactText, at now: Date) async throws -> CryptoMachine {
        try await CryptoMachine.begun(
            user: user, device: device, in: MemoryCryptoStorage(), key: KeyMaterial(), at: now)
    }

    /// Answers the requests of the machines like a server that has these devices and identities.
    private static func answerAll(
        _ machines: [CryptoMachine], confirmed: Set<ExactText>, _ devices: inout [String: [String: JSONValue]],
        at now: Date
    ) async throws {
        for _ in 0..<3 {
            for machine in machines {
                try await machine.track(machines.map(\.user))
                var sync = CryptoSync(kind: .sliding)
                sync.changed = machines.map(\.user)
                _ = try await machine.received(sync, at: now)
                for _ in 0..<20 {
                    guard let request = try await machine.nextRequest(at: now) else { break }
                    var answer: JSONValue = [:]
                    if case .upload(let body) = request.action,
                        var keys = try JSONValue(parsing: Data(body))["device_keys"]?.object
                    {
                        if confirmed.contains(machine.device) { keys = try TestIdentity(machine.user).confirming(keys) }
                        devices[machine.user.text, default: [:]][machine.device.text] = .object(keys)
                    }
                    if case .query = request.action {
                        let identities = try Set(machines.map(\.user)).map { try TestIdentity($0) }
                        var members = try TestIdentity.answer(identities, to: machine.user)
                        let lists = identities.map { ($0.user.text, JSONValue.object(devices[$0.user.text] ?? [:])) }
                        members["device_keys"] = .object(Dictionary(lists) { first, _ in first })
                        answer = .object(members)
                    }
                    try await machine.answered(request, with: answer, at: now)
                }
            }
        }
    }

    private mutating func makeOwnDevices() async throws {
        var devices: [String: [String: JSONValue]] = [:]
        let old = try await Self.machine("@me:b", "OLD", at: now)
        let new = try await Self.machine("@me:b", "NEW", at: now)
        try await Self.answerAll([old, new], confirmed: ["OLD"], &devices, at: now)
        _ = try await old.adopt(TestIdentity("@me:b").secrets)
        try await Self.answerAll([old, new], confirmed: ["OLD"], &devices, at: now)
        ownDevices = [Side(machine: new), Side(machine: old)]
    }

    private mutating func makeUsers() async throws {
        var devices: [String: [String: JSONValue]] = [:]
        let machines = [
            try await Self.machine("@me:b", "OLD", at: now), try await Self.machine("@a:b", "PEER", at: now),
        ]
        try await Self.answerAll(machines, confirmed: ["OLD", "PEER"], &devices, at: now)
        for machine in machines { _ = try await machine.adopt(TestIdentity(machine.user).secrets) }
        try await Self.answerAll(machines, confirmed: ["OLD", "PEER"], &devices, at: now)
        users = machines.map { Side(machine: $0) }
    }

    // MARK: A run

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        let isBetweenUsers = input.flag()
        var sides = isBetweenUsers ? users : ownDevices
        // A day later, no verification is running any more.
        now.addTimeInterval(86_400)
        let id = try await request(&sides, inRoom: isBetweenUsers)
        var steps = 0
        while !input.isEmpty, steps < Self.maxSteps {
            steps += 1
            input.steps += 1
            try await step(&sides, id, &input)
            if let violation = try await self.violation(in: &sides, id, isBetweenUsers) { return violation }
        }
        let hasProven = try await hasProven(sides, isBetweenUsers)
        for side in sides {
            now.addTimeInterval(3_600)
            _ = try await side.machine.tickVerifications(at: now)
            _ = try await drain(side.machine)
            for verification in try await side.machine.verifications() {
                if !verification.hasEnded { return "a verification does not end" }
                _ = try await side.machine.perform(.dismiss, in: ExactText(verification.id), at: now)
            }
            if try await side.machine.verificationDeadline() != nil { return "a verification waits after its end" }
        }
        if hasProven { if isBetweenUsers { try await makeUsers() } else { try await makeOwnDevices() } }
        return nil
    }

    private func hasProven(_ sides: [Side], _ isBetweenUsers: Bool) async throws -> Bool {
        if isBetweenUsers {
            for (one, other) in [(0, 1), (1, 0)]
            where try await sides[one].machine.identity(of: sides[other].machine.user) == .verified { return true }
            return false
        }
        let isConfirmed = try await trustsOwnIdentity(sides[0].machine)
        let hasConfirmed = try await sides[1].machine.ownDevices()["NEW"]?.isConfirmed ?? false
        return isConfirmed || hasConfirmed
    }

    /// Whether a machine has verified its user's identity: only then does it ask others.
    private func trustsOwnIdentity(_ machine: CryptoMachine) async throws -> Bool {
        do {
            _ = try await machine.verificationRequest(to: machine.user)
            return true
        } catch CryptoMachine.VerificationFailure.unconfirmed {
            return false
        }
    }

    /// Whether a side trusts the other one.
    private func trustsOther(_ index: Int, of sides: [Side], _ isBetweenUsers: Bool) async throws -> Bool {
        let machine = sides[index].machine
        if isBetweenUsers { return try await machine.identity(of: sides[1 - index].machine.user) == .verified }
        if index == 0 { return try await trustsOwnIdentity(machine) }
        return try await machine.ownDevices()["NEW"]?.isConfirmed ?? false
    }

    private mutating func request(_ sides: inout [Side], inRoom: Bool) async throws -> ExactText {
        guard inRoom else {
            let id = try await sides[0].machine.verifyDevice(nil, at: now)
            sides[1].inbox += try await drain(sides[0].machine)
            return id
        }
        events += 1
        let id = ExactText("$\(events)")
        let other = sides[1].machine.user
        let content = try await sides[0].machine.verificationRequest(to: other)
        try await sides[0].machine.willRequestVerification(of: other, as: id, in: Self.room, at: now)
        _ = try await sides[0].machine.didRequestVerification(id, as: id, at: now)
        sides[1].inbox.append(Letter(type: "m.room.message", content: .object(content), isEvent: true))
        return id
    }

    private mutating func step(_ sides: inout [Side], _ id: ExactText, _ input: inout FuzzInput) async throws {
        let number = input.number(below: 2)
        let machine = sides[number].machine
        var sent: [VerificationRoomMessage] = []
        switch input.number(below: 16) {
        case 0...8:
            guard !sides[number].inbox.isEmpty else { return }
            var letter = sides[number].inbox.removeFirst()
            letter.content = damage.applied(to: letter.content, by: &input)
            sent = try await deliver(letter, to: machine, from: sides[1 - number].machine.user, id)
        case 9: if !sides[number].inbox.isEmpty { sides[number].inbox.removeFirst() }
        case 10: if let first = sides[number].inbox.first { sides[number].inbox.append(first) }
        case 11: sent = try await machine.perform(.accept, in: id, at: now)
        case 12, 13:
            sent = try await machine.perform(.confirmMatch, in: id, at: now)
            if case .comparing? = sides[number].shown { sides[number].hasConfirmed = true }
        case 14:
            now.addTimeInterval(Double(input.byte()))
            sent = try await machine.tickVerifications(at: now)
        default:
            let action = input.choice(of: [Verification.Action.cancel, .reportMismatch, .dismiss])
            sent = try await machine.perform(action, in: id, at: now)
        }
        sides[1 - number].inbox += sent.map { Letter(type: $0.type, content: .object($0.content), isEvent: true) }
        sides[1 - number].inbox += try await drain(machine)
    }

    private mutating func deliver(
        _ letter: Letter, to machine: CryptoMachine, from sender: ExactText, _ id: ExactText
    ) async throws -> [VerificationRoomMessage] {
        guard !letter.isEvent else {
            events += 1
            let event = letter.type == "m.room.message" ? id : ExactText("$\(events)")
            return try await machine.received(
                [
                    VerificationEvent(
                        room: Self.room, event: event, sender: sender, type: letter.type, content: letter.content,
                        sentAt: now)
                ], at: now)
        }
        var sync = CryptoSync(kind: .sliding)
        sync.events = [["type": .string(letter.type), "sender": .string(sender.text), "content": letter.content]]
        _ = try await machine.received(sync, at: now)
        return []
    }

    /// The to-device messages that a machine has to send.
    private func drain(_ machine: CryptoMachine) async throws -> [Letter] {
        var letters: [Letter] = []
        for _ in 0..<50 {
            guard let request = try await machine.nextRequest(at: now) else { break }
            if case .query = request.action {
                // The device lists are known: leave the query unanswered.
                try await machine.failed(request)
                break
            }
            if case .send(let message) = request.action, message.type.hasPrefix("m.key.verification.") {
                letters.append(
                    Letter(type: message.type, content: try JSONValue(parsing: message.content), isEvent: false))
            }
            try await machine.answered(request, with: [:], at: now)
        }
        return letters
    }

    /// Nothing may be proven unless both users have seen the same and confirmed it.
    private func violation(
        in sides: inout [Side], _ id: ExactText, _ isBetweenUsers: Bool
    ) async throws -> String? {
        for index in sides.indices {
            let all = try await sides[index].machine.verifications()
            guard let phase = all.first(where: { $0.id == id.text })?.phase else { continue }
            if case .comparing = phase { sides[index].shown = phase }
            guard phase == .done else { continue }
            guard sides.allSatisfy(\.hasConfirmed) else { return "verified without a confirmation" }
            if !Self.isSame(sides) { return "verified by what was not the same" }
            guard try await trustsOther(index, of: sides, isBetweenUsers) else { return "done, and nothing is trusted" }
        }
        guard try await hasProven(sides, isBetweenUsers) else { return nil }
        return sides.allSatisfy(\.hasConfirmed) && Self.isSame(sides) ? nil : "proven without a comparison"
    }

    /// Whether both sides have shown the same. A server can remove the emoji from an `accept`, which nothing
    /// authenticates; that side then shows only the numbers, as both sides still do.
    private static func isSame(_ sides: [Side]) -> Bool {
        guard case .comparing(let emoji, let numbers)? = sides[0].shown,
            case .comparing(let otherEmoji, let otherNumbers)? = sides[1].shown
        else { return false }
        return numbers == otherNumbers && (emoji == otherEmoji || emoji.isEmpty || otherEmoji.isEmpty)
    }
}
