import CRatchets

/// A Megolm session with which this device encrypts for one room.
public final class OutboundGroupSession {
    private let handle: OpaquePointer

    private init(handle: OpaquePointer) { self.handle = handle }

    public convenience init() throws(RatchetError) { self.init(handle: try made { ratchet_group_out_new($0) }) }

    public convenience init(pickle: [UInt8], key: KeyMaterial) throws(RatchetError) {
        self.init(
            handle: try key.withBytes { key throws(RatchetError) in
                try made { ratchet_group_out_unpickle(pickle, pickle.count, key, $0) }
            })
    }

    deinit { ratchet_group_out_free(handle) }

    public func pickle(key: KeyMaterial) throws(RatchetError) -> [UInt8] {
        try key.withBytes { key throws(RatchetError) in try output { ratchet_group_out_pickle(handle, key, $0) } }
    }

    public var id: String { get throws(RatchetError) { text(try output { ratchet_group_out_id(handle, $0) }) } }

    /// The index of the next message.
    public var index: UInt32 {
        get throws(RatchetError) {
            var index: UInt32 = 0
            try check(ratchet_group_out_index(handle, &index))
            return index
        }
    }

    /// The key that decrypts the next message and all later ones, to be sent through Olm.
    public var sessionKey: [UInt8] { get throws(RatchetError) { try output { ratchet_group_out_key(handle, $0) } } }

    /// The caller has to store the index as used before sending the message: an index must never encrypt two
    /// plaintexts.
    public func encrypt(_ plaintext: [UInt8]) throws(RatchetError) -> [UInt8] {
        try output { ratchet_group_out_encrypt(handle, plaintext, plaintext.count, $0) }
    }
}

/// A Megolm session that decrypts the messages of one device in one room.
public final class InboundGroupSession {
    private let handle: OpaquePointer

    private init(handle: OpaquePointer) { self.handle = handle }

    /// Creates a session from the signed key that the sending device has shared.
    public convenience init(sessionKey: [UInt8]) throws(RatchetError) {
        self.init(handle: try made { ratchet_group_in_new(sessionKey, sessionKey.count, $0) })
    }

    /// Creates a session from an exported key of a backup or a key file, which is not signed.
    public convenience init(exported: [UInt8]) throws(RatchetError) {
        self.init(handle: try made { ratchet_group_in_import(exported, exported.count, $0) })
    }

    public convenience init(pickle: [UInt8], key: KeyMaterial) throws(RatchetError) {
        self.init(
            handle: try key.withBytes { key throws(RatchetError) in
                try made { ratchet_group_in_unpickle(pickle, pickle.count, key, $0) }
            })
    }

    deinit { ratchet_group_in_free(handle) }

    public func pickle(key: KeyMaterial) throws(RatchetError) -> [UInt8] {
        try key.withBytes { key throws(RatchetError) in try output { ratchet_group_in_pickle(handle, key, $0) } }
    }

    public var id: String { get throws(RatchetError) { text(try output { ratchet_group_in_id(handle, $0) }) } }

    public var firstKnownIndex: UInt32 {
        get throws(RatchetError) {
            var index: UInt32 = 0
            try check(ratchet_group_in_first_index(handle, &index))
            return index
        }
    }

    /// Does not detect replays: the caller has to record which event used which index.
    public func decrypt(_ message: [UInt8]) throws(RatchetError) -> (plaintext: [UInt8], index: UInt32) {
        var index: UInt32 = 0
        let plaintext = try output { ratchet_group_in_decrypt(handle, message, message.count, &index, $0) }
        return (plaintext, index)
    }

    /// The exported key that decrypts messages from `index` on.
    public func exported(at index: UInt32) throws(RatchetError) -> [UInt8] {
        try output { ratchet_group_in_export(handle, index, $0) }
    }

    public enum Comparison: Int32, Sendable {
        case same = 0
        /// This session decrypts more messages.
        case beginsEarlier = 1
        case beginsLater = -1
        /// Two different sessions, whatever their IDs are.
        case unconnected = 2
    }

    public func compare(to other: InboundGroupSession) throws(RatchetError) -> Comparison {
        var order: Int32 = 0
        try check(ratchet_group_in_compare(handle, other.handle, &order))
        guard let comparison = Comparison(rawValue: order) else { throw .argument }
        return comparison
    }
}
