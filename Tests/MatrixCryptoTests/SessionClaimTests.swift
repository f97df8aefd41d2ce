import ChatCore
import Foundation
import JSONReading
import Ratchets
import Testing
import ToolSupport

@testable import MatrixCrypto

/// Sessions that more than one user has sent as their own: every member has the key of every other one.
@Suite(.enabled(if: EncryptionSetting.isOn)) struct SessionClaimTests {
    private let out: OutboundGroupSession
    private let owner: InboundSession.Owner
    private let other: InboundSession.Owner

    init() throws {
        out = try OutboundGroupSession()
        owner = try Self.owner("@a:b")
        other = try Self.owner("@c:b")
    }

    private static func owner(_ user: ExactText) throws -> InboundSession.Owner {
        let account = try OlmAccount()
        return InboundSession.Owner(user: user, identityKey: account.identityKey, signingKey: account.signingKey)
    }

    /// The session from its current index on, as one of its members sends it.
    private func session(from owner: InboundSession.Owner) throws -> InboundSession {
        let content: JSONValue = [
            "algorithm": "m.megolm.v1.aes-sha2", "room_id": "!r:b", "session_id": .string(try out.id),
            "session_key": .string(Base64.encoded(try out.sessionKey)),
        ]
        return try InboundSession(roomKey: content, from: owner)
    }

    private func imported(from owner: InboundSession.Owner) throws -> InboundSession {
        try InboundSession(ExportedSession(session(from: owner)))
    }

    @Test("Who sends the key of another member first takes no message of theirs, in either order, also once stored.")
    func claims() throws {
        let (early, forged) = (try session(from: owner), try session(from: other))
        _ = try out.encrypt([])
        let (late, lateForged) = (try session(from: owner), try session(from: other))
        for (known, new) in [
            (forged, early), (early, forged), (forged, late), (lateForged, early), (early, lateForged),
        ] {
            let merged = try #require(try new.merged(with: known))
            let key = try KeyMaterial()
            for session in [merged, try InboundSession(record: merged.record(key: key), key: key)] {
                #expect(
                    session.forMessages(of: "@a:b").owner == owner && session.forMessages(of: "@c:b").owner == other)
                #expect(session.forMessages(of: "@x:b").owner == known.owner)
                #expect(try session.session.firstKnownIndex == 0)
                // Sent once more, it adds nothing.
                #expect(try new.merged(with: session) == nil || new.session.firstKnownIndex == 0)
            }
        }
    }

    @Test("What is noted of one owner is not noted of another.")
    func confirmation() throws {
        let master = try SigningKey().publicKey
        var claimed = try #require(try session(from: owner).merged(with: session(from: other))).claimed(by: "@a:b")
        claimed.confirmedBy = master
        let key = try KeyMaterial()
        let stored = try InboundSession(record: claimed.record(key: key), key: key)
        #expect(stored.claimed(by: "@a:b").confirmedBy == master && stored.claimed(by: "@c:b").confirmedBy == nil)
        #expect(stored.claimed(by: "@c:b").claimed(by: "@a:b").confirmedBy == master)
    }

    @Test("A session's record has few claims, others have their own, and another device of the same user has none.")
    func bounds() async throws {
        var known = try session(from: owner)
        for number in 0..<10 {
            known = try session(from: Self.owner(ExactText("@\(number):b"))).merged(with: known) ?? known
        }
        let (key, storage) = (try KeyMaterial(), FakeCryptoStorage())
        try await storage.commit(CryptoChange(put: known.records(key: key)))
        let stored = try InboundSession(record: known.record(key: key), key: key)
        #expect(stored.rivals.map(\.owner.user) == ["@0:b", "@1:b", "@2:b", "@3:b"] && stored.owner == owner)
        #expect(await storage.cryptoRecordCount(.sessionClaim) == 6)
        #expect(try session(from: Self.owner("@a:b")).merged(with: stored) == nil)
        #expect(try session(from: Self.owner("@1:b")).merged(with: stored) == nil)
        let other = try #require(try await stored.withClaim(of: "@7:b", in: storage))
        #expect(other.forMessages(of: "@7:b").owner.user == "@7:b" && other.forMessages(of: "@a:b").owner == owner)
        #expect(try session(from: Self.owner("@7:b")).merged(with: other) == nil)
        #expect(try await stored.withClaim(of: "@x:b", in: storage)?.owners == stored.owners)
        // A claim that takes the place of the owner has the former owner's stored.
        try await storage.commit(CryptoChange(put: other.claimed(by: "@7:b").records(key: key)))
        let record = try #require(try await storage.cryptoRecord(stored.key))
        let again = try InboundSession(record: record, key: key)
        #expect(again.owner.user == "@7:b" && !again.owners.contains("@a:b"))
        #expect(try await again.withClaim(of: "@a:b", in: storage)?.forMessages(of: "@a:b").owner == owner)
    }

    @Test("A damaged claim seals its user's messages alone.")
    func damagedClaim() async throws {
        var known = try session(from: owner)
        for number in 0..<6 {
            known = try session(from: Self.owner(ExactText("@\(number):b"))).merged(with: known) ?? known
        }
        let (key, storage) = (try KeyMaterial(), FakeCryptoStorage())
        try await storage.commit(CryptoChange(put: known.records(key: key)))
        let claim = try #require(await storage.cryptoRecords(.sessionClaim, owner: nil).first)
        await storage.set(Data("damaged".utf8), for: claim.key)
        let stored = try InboundSession(record: known.record(key: key), key: key)
        #expect(try await stored.withClaim(of: "@4:b", in: storage) == nil)
        #expect(try await stored.withClaim(of: "@5:b", in: storage)?.claimed(by: "@5:b").owner.user == "@5:b")
    }

    @Test(
        "No number of members who send a key as their own keeps out the one who has created it.",
        arguments: [false, true])
    func colluders(areKnown: Bool) async throws {
        var fixture = try await MachineFixture()
        let (own, keys) = try await fixture.published()
        let colluders = try (0..<7).map { try TestPeer(ExactText("@\($0):b"), "D", to: own, with: keys[$0]) }
        let genuine = try TestPeer("@a:b", "A", to: own, with: keys[7])
        let devices = (colluders + [genuine]).map(\.device)
        if areKnown { try await fixture.know(devices) }
        for peer in colluders.prefix(5) { try await fixture.receive([peer.share(out)]) }
        #expect(try await fixture.receive([genuine.share(out)]).sessions.count == 1)
        for peer in colluders.suffix(2) { try await fixture.receive([peer.share(out)]) }
        if !areKnown { try await fixture.know(devices) }
        for number in 0..<2 {
            try await fixture.restart()
            let event = try genuine.say("Hello", with: out, as: ExactText("$\(number)"))
            let copy = SealedEvent(room: event.room, event: "$copy", sender: "@x:b", content: event.content)
            let readings = try await fixture.machine.read([copy, event])
            #expect(readings[0] == .failure(.sender))
            let payload = try readings[1].get()
            #expect(payload.owner.user == "@a:b" && payload.trust == nil && payload.content["body"] == "Hello")
        }
    }

    @Test("An imported session stays readable by whoever made it, whatever others send of it, before or after.")
    func importedSessions() throws {
        let (early, earlyForged) = (try imported(from: owner), try session(from: other))
        _ = try out.encrypt([])
        let (late, lateForged) = (try imported(from: owner), try session(from: other))
        for (known, new) in [(early, earlyForged), (early, lateForged), (late, earlyForged), (late, lateForged)] {
            let merged = try new.merged(with: known) ?? known
            #expect(merged.source == .imported && merged.owner == known.owner)
        }
        for (known, new) in [(earlyForged, early), (lateForged, early), (earlyForged, late), (lateForged, late)] {
            let merged = try #require(try new.merged(with: known))
            let key = try KeyMaterial()
            let stored = try InboundSession(record: merged.record(key: key), key: key)
            let read = stored.forMessages(of: "@a:b")
            #expect(read.source == .imported && read.isAnybodys && read.owner.identityKey == owner.identityKey)
            #expect(stored.forMessages(of: "@c:b").source == .direct)
            // Its maker's own key is proven.
            let proven = try #require(try session(from: owner).merged(with: stored))
            #expect(proven.forMessages(of: "@a:b").source == .direct && proven.forMessages(of: "@a:b").owner == owner)
        }
    }

    @Test(
        "A copy of a message under another sender does not take the index of the genuine one.",
        arguments: [false, true])
    func copies(isImported: Bool) async throws {
        let server = TestServer()
        let (sender, reader) = (try await server.signIn("@me:b", "ME"), try await server.signIn("@a:b", "A1"))
        for client in [sender, reader] { try await server.makeIdentity(on: client) }
        let room: ExactText = "!r:b"
        try await EncryptedRoom.note(
            [(room, ["algorithm": "m.megolm.v1.aes-sha2"])], in: sender.storage, at: server.now)
        var sealed: JSONValue?
        while sealed == nil {
            switch try await sender.machine.seal("m.room.message", ["body": "hello"], in: room, at: server.now) {
            case .sealed(let content): sealed = content
            case .needsMembers(let version):
                let members: [ExactText: String] = isImported ? ["@me:b": "join"] : ["@me:b": "join", "@a:b": "join"]
                _ = try await sender.machine.setMembers(members, visibility: "joined", of: room, since: version)
            case .waits: try await server.exchangeAll()
            case .refused(let rejection): throw rejection
            }
        }
        let content = try #require(sealed)
        try await server.exchangeAll()
        if isImported {
            let exported = try await sender.machine.exportedSessions(after: nil, limit: 10)
            #expect(try await reader.machine.imported(exported).new.count == 1)
        }
        func read(_ event: ExactText, from sender: ExactText) async throws -> CryptoMachine.Reading {
            let event = SealedEvent(room: room, event: event, sender: sender, content: content)
            return try #require(try await reader.machine.read([event]).first)
        }
        let copy = try await read("$copy", from: "@c:b")
        #expect(isImported ? (try? copy.get().trust) == .unproven : copy == .failure(.sender))
        #expect(try await read("$genuine", from: "@me:b").get().content["body"] == "hello")
        #expect(try await read("$genuine", from: "@me:b").get().content["body"] == "hello")
        #expect(try await read("$again", from: "@me:b") == .failure(.replay))
    }
}
