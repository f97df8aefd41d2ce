import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets

/// A server's response about the devices of a user.
struct DeviceListFuzz: CryptoFuzz {
    private static let user: ExactText = "@a:b"
    private static let now = Date(timeIntervalSince1970: 1_000_000)

    private let devices: [TestDevice]
    private let selfSigning: Ed25519Key
    private let documents: [JSONValue]
    private let known: [DeviceKeys]
    private let answer: JSONValue
    private let damage: JSONDamage

    init() async throws {
        devices = [try TestDevice(Self.user, "ONE"), try TestDevice(Self.user, "TWO")]
        selfSigning = try TestIdentity(Self.user).selfSigning.publicKey
        documents = try devices.map { try $0.json() }
        known = [try DeviceKeys(documents[0], of: Self.user, device: "ONE", selfSigning: selfSigning)]
        answer = ["device_keys": [Self.user.text: ["ONE": documents[0], "TWO": documents[1]]], "failures": [:]]
        damage = JSONDamage(
            ["ONE", "TWO", "curve25519:ONE", "ed25519:ONE", "ed25519:\(selfSigning)", "signatures", "unsigned", "b"]
                + devices.flatMap { ["\($0.account.identityKey)", "\($0.account.signingKey)"] })
    }

    mutating func violation(of input: inout FuzzInput) async throws -> String? {
        input.flag() ? listViolation(&input) : try deviceViolation(&input)
    }

    private func deviceViolation(_ input: inout FuzzInput) throws -> String? {
        let isSigned = input.flag()
        var json = damage.applied(to: documents[0], by: &input)
        if isSigned, let object = json.object,
            // An object that cannot be signed keeps its former signature.
            let signed = try? SignedJSON.signed(
                object, by: Self.user, keyID: "ONE", sign: { try devices[0].account.sign($0) })
        {
            json = .object(signed)
        }
        guard let keys = try? DeviceKeys(json, of: Self.user, device: "ONE", selfSigning: selfSigning) else {
            return json == documents[0] ? "a device is refused" : nil
        }
        if keys.user != Self.user || keys.device != "ONE" { return "a device is another" }
        let isSame =
            try SignedJSON.signedBytes(of: json.object ?? [:])
            == SignedJSON.signedBytes(of: documents[0].object ?? [:])
        if isSame { return keys.hasKeys(of: known[0]) ? nil : "the same device has other keys" }
        if !isSigned { return "a device says what it has not signed" }
        return keys.confirmedBy == nil ? nil : "a device is confirmed as what its owner has not signed"
    }

    private func listViolation(_ input: inout FuzzInput) -> String? {
        var tracker = DeviceTracker()
        tracker.track([Self.user])
        guard let query = tracker.nextQuery(at: Self.now) else { return "nothing is asked" }
        let damaged = damage.applied(to: answer, by: &input)
        let lists = tracker.apply(damaged, to: query, known: [Self.user: known], at: Self.now)
        for list in lists {
            if list.user != Self.user || list.devices.count > DeviceListChange.maxDevices { return "a list is another" }
            if let one = list.devices["ONE"], !one.hasKeys(of: known[0]) { return "a device has changed its keys" }
            let identityKeys = Set(list.devices.values.map(\.identityKey))
            if identityKeys.count < list.devices.count { return "two devices have one key" }
        }
        return nil
    }
}
