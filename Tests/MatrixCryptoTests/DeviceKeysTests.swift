import ChatCore
import CryptoTestSupport
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct DeviceKeysTests {
    @Test func anHonestDeviceIsRead() throws {
        let peer = try TestDevice("@a:b", "D")
        let keys = try DeviceKeys(peer.json(), of: "@a:b", device: "D")
        #expect(keys.identityKey == peer.account.identityKey && keys.signingKey == peer.account.signingKey)
        #expect(keys.readsRooms && keys.name == "laptop")
        #expect(keys.hasKeys(of: try DeviceKeys(peer.json(), of: "@a:b", device: "D")))
        #expect(!keys.hasKeys(of: try DeviceKeys(TestDevice("@a:b", "D").json(), of: "@a:b", device: "D")))
    }

    @Test func aDeviceInAnothersPlaceIsRefused() throws {
        let json = try TestDevice("@a:b", "D").json()
        #expect(throws: DeviceKeys.Failure.misplaced) { try DeviceKeys(json, of: "@c:b", device: "D") }
        #expect(throws: DeviceKeys.Failure.misplaced) { try DeviceKeys(json, of: "@a:b", device: "E") }
        let accented = try TestDevice("@\u{E9}:b", "D").json()
        #expect(throws: DeviceKeys.Failure.misplaced) { try DeviceKeys(accented, of: "@e\u{301}:b", device: "D") }
    }

    /// Whatever a member contains: the keys are rejected with a reason, and never taken for other keys.
    @Test func anythingElseIsRefused() throws {
        let whole = try #require(try TestDevice("@a:b", "D").json().object)
        let others: [JSONValue] = [.null, 5, "x", [], [:], ["curve25519:D": 5], ["ed25519:D": ""], .number(0.5), true]
        for name in ["user_id", "device_id", "algorithms", "keys", "signatures"] {
            for other in others where !(name == "algorithms" && other == []) {
                var object = whole
                object[name] = other
                #expect(throws: DeviceKeys.Failure.self, "\(name)") {
                    try DeviceKeys(.object(object), of: "@a:b", device: "D")
                }
            }
            var object = whole
            object[name] = nil
            #expect(throws: DeviceKeys.Failure.self) { try DeviceKeys(.object(object), of: "@a:b", device: "D") }
        }
        for other in others {
            #expect(throws: DeviceKeys.Failure.malformed) { try DeviceKeys(other, of: "@a:b", device: "D") }
        }
        // The signature covers what was changed.
        var object = whole
        object["algorithms"] = []
        #expect(throws: DeviceKeys.Failure.signature) { try DeviceKeys(.object(object), of: "@a:b", device: "D") }
    }

    @Test func identifiersAreBounded() throws {
        let long = ExactText(String(repeating: "D", count: 256))
        let json = try TestDevice("@a:b", long).json()
        #expect(throws: DeviceKeys.Failure.malformed) { try DeviceKeys(json, of: "@a:b", device: long) }
    }
}
