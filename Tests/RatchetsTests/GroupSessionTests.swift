import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct GroupSessionTests {
    @Test func aRoomReads() throws {
        let out = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        #expect(try session.id == out.id)
        for index in UInt32(0)..<20 {
            #expect(try out.index == index)
            let read = try session.decrypt(out.encrypt(Array("message \(index)".utf8)))
            #expect(read.plaintext == Array("message \(index)".utf8))
            #expect(read.index == index)
        }
    }

    @Test func whoComesLaterReadsFromThereOn() throws {
        let out = try OutboundGroupSession()
        let early = try out.encrypt([0])
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        #expect(try session.firstKnownIndex == 1)
        #expect(throws: RatchetError.unknownIndex) { try session.decrypt(early) }
        #expect(try session.decrypt(out.encrypt([1])).plaintext == [1])
    }

    @Test func exportsReadFromTheirIndexOn() throws {
        let out = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        let messages = try (0..<10).map { try out.encrypt([UInt8($0)]) }
        let imported = try InboundGroupSession(exported: session.exported(at: 5))
        #expect(try imported.firstKnownIndex == 5)
        #expect(throws: RatchetError.unknownIndex) { try imported.decrypt(messages[4]) }
        #expect(try imported.decrypt(messages[5]).plaintext == [5])
        #expect(throws: RatchetError.unknownIndex) { try imported.exported(at: 4) }
        #expect(try imported.exported(at: 5) == session.exported(at: 5))
    }

    @Test func sessionsAreCompared() throws {
        let out = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        let later = try InboundGroupSession(exported: session.exported(at: 3))
        #expect(try session.compare(to: later) == .beginsEarlier)
        #expect(try later.compare(to: session) == .beginsLater)
        #expect(try session.compare(to: session) == .same)
        #expect(try session.compare(to: InboundGroupSession(sessionKey: out.sessionKey)) == .same)
        let other = try InboundGroupSession(sessionKey: OutboundGroupSession().sessionKey)
        #expect(try session.compare(to: other) == .unconnected)
    }

    /// An export is not signed, so it can have anyone's ratchet under the ID of another session.
    @Test func aForgedRatchetUnderAKnownIdentifierIsUnconnected() throws {
        let out = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        var forged = try session.exported(at: 0)
        forged[10] ^= 1
        let other = try InboundGroupSession(exported: forged)
        #expect(try other.id == session.id)
        #expect(try session.compare(to: other) == .unconnected)
        #expect(throws: RatchetError.mac) { try other.decrypt(out.encrypt([1])) }
    }

    @Test func picklesBringSessionsBack() throws {
        let key = try KeyMaterial()
        let out = try OutboundGroupSession()
        let session = try InboundGroupSession(sessionKey: out.sessionKey)
        _ = try out.encrypt([0])
        let restored = try OutboundGroupSession(pickle: out.pickle(key: key), key: key)
        #expect(try restored.index == 1)
        let reader = try InboundGroupSession(pickle: session.pickle(key: key), key: key)
        #expect(try reader.decrypt(restored.encrypt([1])).plaintext == [1])
        let other = try KeyMaterial()
        #expect(throws: RatchetError.pickle) { try InboundGroupSession(pickle: session.pickle(key: key), key: other) }
        #expect(throws: RatchetError.pickle) { try OutboundGroupSession(pickle: session.pickle(key: key), key: key) }
    }

    /// Every byte of a message and of a session key matters.
    @Test func damageIsNoticedWhereverItIs() throws {
        let out = try OutboundGroupSession()
        let key = try out.sessionKey
        for offset in key.indices {
            var damaged = key
            damaged[offset] ^= 0x40
            #expect(throws: RatchetError.self) { try InboundGroupSession(sessionKey: damaged) }
        }
        let session = try InboundGroupSession(sessionKey: key)
        // Not the first message: a missing index means 0, so damage that removes the index would go unnoticed.
        _ = try out.encrypt([])
        let message = try out.encrypt(Array("hello".utf8))
        for offset in message.indices {
            var damaged = message
            damaged[offset] ^= 0x40
            #expect(throws: RatchetError.self) { try session.decrypt(damaged) }
            #expect(throws: RatchetError.self) { try session.decrypt(Array(message.prefix(offset))) }
        }
        #expect(try session.decrypt(message).plaintext == Array("hello".utf8))
    }
}
