import ChatCore
import Foundation
import JSONReading
import Ratchets
import Testing

@testable import MatrixCrypto

/// What each message of the other side, and time, does in each state of a verification.
@Suite(.enabled(if: RatchetLibrary.version != nil))
struct VerificationFlowTests {
    private enum State: String, CaseIterable {
        /// The other device has asked.
        case requested, preparing, accepted, comparing, confirming, done, canceled
        /// This device has asked.
        case waiting, started
    }

    private static let kinds = ["ready", "start", "accept", "key", "mac", "done", "cancel", "other"]
    /// What happens, by kind: `-` nothing, `!` it is unexpected, `C` canceled by the other side, `K` the keys do not
    /// match; otherwise, what is sent.
    private static let table: [State: String] = [
        .requested: "! ! ! ! ! - C -",
        .waiting: "start ! ! ! ! - C -",
        .preparing: "! accept ! ! ! - C -",
        .started: "! - key ! ! - C -",
        .accepted: "! ! ! key ! - C -",
        .comparing: "! ! ! ! - - C -",
        .confirming: "! ! ! ! K - C -",
        .done: "- - - - - - - -",
        .canceled: "- - - - - - - -",
    ]

    private let now = Date(timeIntervalSince1970: 1_000_000)
    private let me: SasExchange.Party
    private let peer: SasExchange.Party

    init() throws {
        func party(_ device: ExactText) throws -> SasExchange.Party {
            SasExchange.Party(user: "@me:b", device: device, signingKey: try SigningKey().publicKey, master: nil)
        }
        (me, peer) = (try party("ME"), try party("PEER"))
    }

    // MARK: States

    private func ask(_ other: ExactText) -> VerificationFlow {
        VerificationFlow(asking: "@me:b", devices: [other], as: "t", over: .devices, at: now)
    }

    private static let methods: JSONValue = ["m.sas.v1"]

    /// Gives messages to a side.
    /// - Returns: Its answers.
    private func deliver(
        _ messages: [VerificationFlow.Message], to flow: inout VerificationFlow, at own: SasExchange.Party,
        from other: SasExchange.Party
    ) throws -> [VerificationFlow.Message] {
        var answers: [VerificationFlow.Message] = []
        for message in messages {
            let content = try #require(flow.named(message.content))
            answers += try flow.take(short(message.type), content, own: own, other: other, at: now)
        }
        return answers
    }

    private func short(_ type: String) -> String { String(type.dropFirst(VerificationFlow.prefix.count)) }

    /// This device's side in a state.
    private func flow(_ state: State) throws -> VerificationFlow {
        switch state {
        case .waiting, .started:
            var mine = ask("PEER")
            if state == .started {
                let ready: JSONValue = ["from_device": "PEER", "methods": Self.methods]
                _ = try mine.take("ready", ready, own: me, other: peer, at: now)
            }
            return mine
        case .requested, .preparing, .accepted, .comparing, .confirming, .done, .canceled:
            return try asked(until: state)
        }
    }

    private func asked(until state: State) throws -> VerificationFlow {
        var theirs = ask("ME")
        let request: JSONValue = ["from_device": "PEER", "methods": Self.methods]
        var mine = try #require(
            VerificationFlow(request: request, as: "t", from: "@me:b", over: .devices, sentAt: nil, at: now))
        if state == .requested { return mine }
        if state == .canceled {
            _ = try mine.perform(.cancel, device: "ME", at: now)
            return mine
        }
        let ready = try mine.perform(.accept, device: "ME", at: now)
        if state == .preparing { return mine }
        let start = try deliver(ready, to: &theirs, at: peer, from: me)
        let accept = try deliver(start, to: &mine, at: me, from: peer)
        if state == .accepted { return mine }
        let theirKey = try deliver(accept, to: &theirs, at: peer, from: me)
        let key = try deliver(theirKey, to: &mine, at: me, from: peer)
        if state == .comparing { return mine }
        _ = try mine.perform(.confirmMatch, device: "ME", at: now)
        if state == .confirming { return mine }
        let answers = try deliver(key, to: &theirs, at: peer, from: me)
        let mac = try theirs.perform(.confirmMatch, device: "PEER", at: now)
        let last = try deliver(mac, to: &mine, at: me, from: peer)
        #expect(answers.isEmpty && last.isEmpty)
        let proof = mine.proof().proof
        #expect(proof?.party == peer)
        let end = mine.conclude(nil)
        #expect(end.map { short($0.type) } == ["done"])
        return mine
    }

    /// A message that is well-formed by itself.
    private func content(_ kind: String) throws -> JSONValue {
        switch kind {
        case "ready": ["from_device": "PEER", "methods": Self.methods]
        case "start": .object(SasExchange.start(from: "PEER"))
        case "accept":
            [
                "method": "m.sas.v1", "key_agreement_protocol": "curve25519-hkdf-sha256", "hash": "sha256",
                "message_authentication_code": "hkdf-hmac-sha256.v2", "commitment": "x",
                "short_authentication_string": ["decimal", "emoji"],
            ]
        case "key": ["key": .string("\(try ShortAuthentication().publicKey)")]
        case "mac": ["mac": [:], "keys": "x"]
        case "cancel": ["code": "m.user"]
        default: [:]
        }
    }

    private func codes(_ messages: [VerificationFlow.Message]) -> [String] {
        messages.map { $0.content["code"]?.string ?? "" }
    }

    // MARK: Tables

    @Test("Each message in each state is answered, ignored, or ends the verification.")
    func messages() throws {
        for state in State.allCases {
            let cells = try #require(Self.table[state]).split(separator: " ").map(String.init)
            #expect(cells.count == Self.kinds.count)
            for (kind, cell) in zip(Self.kinds, cells) {
                var flow = try flow(state)
                let before = flow.phase
                var sent = try flow.take(kind, content(kind), own: me, other: peer, at: now)
                let (proof, failure) = flow.proof()
                sent += failure
                let place: Comment = "\(state.rawValue), \(kind)"
                #expect(proof == nil, place)
                switch cell {
                case "-":
                    #expect(sent.isEmpty && flow.phase == before, place)
                case "!":
                    #expect(codes(sent) == ["m.unexpected_message"] && flow.phase == .canceled(.failed), place)
                case "C":
                    #expect(sent.isEmpty && flow.phase == .canceled(.there), place)
                case "K":
                    #expect(codes(sent) == ["m.key_mismatch"] && flow.phase == .canceled(.failed), place)
                default:
                    #expect(sent.map { short($0.type) } == [cell] && !flow.hasEnded, place)
                }
            }
        }
    }

    @Test("A message that says what cannot be accepted ends the verification with the code for it.")
    func badContents() throws {
        func changed(_ kind: String, _ member: String, _ value: JSONValue?) throws -> JSONValue {
            var members = try content(kind).object ?? [:]
            members[member] = value
            return .object(members)
        }
        let cases: [(State, String, String, JSONValue?, String)] = [
            (.waiting, "ready", "methods", ["m.qr_code.show.v1"], "m.unknown_method"),
            (.waiting, "ready", "from_device", "OTHER", "m.user_mismatch"),
            (.waiting, "ready", "from_device", nil, "m.unexpected_message"),
            (.preparing, "start", "method", "m.reciprocate.v1", "m.unknown_method"),
            (.preparing, "start", "hashes", ["md5"], "m.unknown_method"),
            (.preparing, "start", "from_device", "OTHER", "m.unexpected_message"),
            (.started, "accept", "hash", "md5", "m.unknown_method"),
            (.started, "accept", "commitment", nil, "m.invalid_message"),
            (.accepted, "key", "key", nil, "m.invalid_message"),
            (.accepted, "key", "key", "AAAA", "m.invalid_message"),
        ]
        for (state, kind, member, value, code) in cases {
            var flow = try flow(state)
            let sent = try flow.take(kind, changed(kind, member, value), own: me, other: peer, at: now)
            let place: Comment = "\(state.rawValue), \(kind), \(member)"
            #expect(codes(sent) == [code], place)
            #expect(flow.phase == .canceled(code == "m.unknown_method" ? .unsupported : .failed), place)
        }
        // The key is not the one that was committed to.
        var committed = try flow(.started)
        _ = try committed.take("accept", content("accept"), own: me, other: peer, at: now)
        let broken = try committed.take("key", content("key"), own: me, other: peer, at: now)
        #expect(codes(broken) == ["m.mismatched_commitment"])
        #expect(committed.phase == .canceled(.mismatch))
    }

    @Test("A start from a device whose keys are still being queried is answered when they are known.")
    func earlyStart() throws {
        var flow = try flow(.preparing)
        let none = try flow.take("start", content("start"), own: me, other: nil, at: now)
        #expect(none.isEmpty && flow.phase == .preparing)
        let waiting = try flow.tick(own: me, other: nil, at: now + 10)
        #expect(waiting.isEmpty && flow.deadline == now + 20)
        flow.keysArrived()
        let isDue = flow.deadline.map { $0 <= now + 11 }
        #expect(isDue == true)
        let sent = try flow.tick(own: me, other: peer, at: now + 11)
        #expect(sent.map { short($0.type) } == ["accept"])
    }

    @Test("A second device that has accepted as well does not cancel the verification with the first one.")
    func secondReady() throws {
        var flow = VerificationFlow(asking: "@me:b", devices: ["PEER", "OTHER"], as: "t", over: .devices, at: now)
        let start = try flow.take("ready", content("ready"), own: me, other: peer, at: now)
        #expect(start.map { short($0.type) } == ["cancel", "start"])
        let second: JSONValue = ["from_device": "OTHER", "methods": Self.methods]
        let ignored = try flow.take("ready", second, own: me, other: peer, at: now)
        #expect(ignored.isEmpty && flow.phase == .preparing && flow.device == "PEER")
    }

    @Test("Each state ends in time, or goes on by itself.")
    func time() throws {
        let cases: [(State, TimeInterval?, [String])] = [
            (.requested, 120, []), (.waiting, 600, ["cancel"]), (.preparing, 10, ["start"]),
            (.started, 600, ["cancel"]), (.accepted, 600, ["cancel"]), (.comparing, 600, ["cancel"]),
            (.confirming, 600, ["cancel"]), (.done, nil, []), (.canceled, nil, []),
        ]
        #expect(cases.count == State.allCases.count)
        for (state, seconds, types) in cases {
            var flow = try flow(state)
            let place: Comment = "\(state.rawValue)"
            #expect(flow.deadline == seconds.map { now + $0 }, place)
            let before = flow.phase
            let early = (seconds ?? 100_000) - 1
            let nothing = try flow.tick(own: me, other: peer, at: now + early)
            #expect(nothing.isEmpty && flow.phase == before, place)
            guard let seconds else { continue }
            let sent = try flow.tick(own: me, other: peer, at: now + seconds)
            #expect(sent.map { short($0.type) } == types, place)
            #expect(flow.phase == (state == .preparing ? .preparing : .canceled(.timeout)), place)
        }
    }

    @Test("A message that is repeated is processed once; so is one of very many.")
    func repeatedMessages() throws {
        var flow = try flow(.waiting)
        let messages: [VerificationInbox.Message] = [
            .event("$1"), .event("$2"), .message("key", ["key": "a"]), .event("$1"), .message("key", ["key": "a"]),
            .message("key", ["key": "b"]), .message("mac", ["key": "a"]),
        ]
        let areNew = messages.map { flow.inbox.isNew($0) }
        #expect(areNew == [true, true, true, false, false, true, true])
        let count = (0..<200).count { flow.inbox.isNew(.event(ExactText("$x\($0)"))) }
        #expect(count < 100)
    }
}
