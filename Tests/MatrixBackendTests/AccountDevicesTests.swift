import ChatCore
import Testing

@testable import MatrixBackend

struct AccountDevicesTests {
    @Test("What a device counts as follows from what this one has proven: nothing before the first device list.")
    func trust() {
        func trust(
            _ identity: EncryptionStatus.Identity, isConfirmed: Bool?, isThis: Bool = false
        ) -> AccountDevice.Trust {
            AccountDevices.trust(identity, isConfirmed: isConfirmed, isThis: isThis)
        }
        for isConfirmed in [nil, false, true] { #expect(trust(.unknown, isConfirmed: isConfirmed) == .unknown) }
        for identity in [EncryptionStatus.Identity.none, .unconfirmed, .confirmed, .replaced] {
            #expect(trust(identity, isConfirmed: nil) == .withoutEncryption)
        }
        #expect(trust(.none, isConfirmed: false) == .unconfirmed)
        #expect(trust(.confirmed, isConfirmed: false) == .unconfirmed)
        #expect(trust(.confirmed, isConfirmed: true) == .confirmed)
        // The server alone vouches for these identities.
        for identity in [EncryptionStatus.Identity.unconfirmed, .replaced] {
            for isConfirmed in [false, true] {
                #expect(trust(identity, isConfirmed: isConfirmed) == .unproven)
                #expect(trust(identity, isConfirmed: isConfirmed, isThis: true) == .unconfirmed)
            }
        }
    }
}
