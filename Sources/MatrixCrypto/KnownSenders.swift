import ChatCore
import JSONReading
import Ratchets

/// The devices and identities of senders, loaded once each within one change.
struct KnownSenders {
    private let storage: any CryptoStorage
    private var users: [ExactText: (identity: Identity?, devices: [DeviceKeys])] = [:]
    /// Users with damaged records, who have to be queried again.
    private(set) var damaged = DamagedUsers()

    init(storage: any CryptoStorage) { self.storage = storage }

    mutating func find(_ user: ExactText) async throws -> (identity: Identity?, devices: [DeviceKeys]) {
        if let known = users[user] { return known }
        let records = try await storage.cryptoRecords([.identity, .device], owner: user)
        let identity = try Identity.stored(in: records)
        let stored = StoredDevices(records.filter { $0.key.kind == .device })
        if identity?.isUnknown == true { damaged.identities.insert(user) }
        if !stored.damaged.isEmpty { damaged.devices.insert(user) }
        users[user] = (identity, stored.devices)
        return (identity, stored.devices)
    }

    /// The master key of the identity that confirms the device whose message this is; `nil` if none does.
    /// - Parameter isListCurrent: Whether the sender's device list is current. Then a device that it lacks is signed
    ///   out, whatever signature it still has.
    mutating func confirmation(of message: OlmPayload, isListCurrent: Bool) async throws -> Ed25519Key? {
        let user = ExactText(message.owner.user)
        let (identity, devices) = try await find(user)
        guard let identity else { return nil }
        if let device = devices.first(where: { message.owner.isDevice($0) }), identity.confirms(device) {
            return identity.master
        }
        guard !isListCurrent || damaged.devices.contains(user), let selfSigning = identity.selfSigning else {
            return nil
        }
        for json in message.deviceKeys {
            guard let id = json["device_id"]?.exactText,
                let stated = try? DeviceKeys(json, of: user, device: id, selfSigning: selfSigning),
                message.owner.isDevice(stated), identity.confirms(stated)
            else { continue }
            // A device never changes its keys, so the one that is listed under this ID is another.
            let listed = devices.first { $0.device == id }
            guard listed.map({ $0.hasKeys(of: stated) && !$0.isDisputed }) ?? true else { continue }
            return identity.master
        }
        return nil
    }
}

extension InboundSession.Owner {
    func isDevice(_ device: DeviceKeys) -> Bool {
        device.identityKey.bytes == identityKey && device.signingKey.bytes == signingKey
    }
}
