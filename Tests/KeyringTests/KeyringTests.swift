import ChatCore
import Foundation
import GtkTestSupport
import Keyring
import XCTest

/// The keyring over a real Secret Service (gnome-keyring) on a private session bus.
final class KeyringTests: GtkTestCase {
    private static let ann = "@ann:example.org"
    private static let bo = "@bo:example.org"

    func testStoresReplacesAndRemovesCredentials() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            XCTAssertNil(try finish { try await keyring.credential(of: Self.ann) })
            try finish { try await keyring.store(AccountCredential("one"), of: Self.ann) }
            try finish { try await keyring.store(AccountCredential("zwei ✓"), of: Self.ann) }
            try finish { try await keyring.store(AccountCredential("other"), of: "@bo:example.org") }
            // A new instance simulates a restart.
            let again = Keyring()
            XCTAssertEqual(try finish { try await again.credential(of: Self.ann) }, AccountCredential("zwei ✓"))
            try finish { try await again.removeCredential(of: Self.ann) }
            try finish { try await again.removeCredential(of: Self.ann) }
            XCTAssertNil(try finish { try await again.credential(of: Self.ann) })
            XCTAssertEqual(try finish { try await again.credential(of: "@bo:example.org") }, AccountCredential("other"))
        }
    }

    func testLockedKeyringThrowsUntilUnlocked() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            try finish { try await keyring.store(AccountCredential("one"), of: Self.ann) }
            try service.lock()
            // The unlock prompt is not confirmed, which counts as dismissed.
            XCTAssertEqual(Self.failure { _ = try await keyring.credential(of: Self.ann) }, .locked)
            service.end()
            let open = try SecretService()
            defer { open.end() }
            // Sessions with the old service are unknown to the new one.
            XCTAssertEqual(try finish { try await keyring.credential(of: Self.ann) }, AccountCredential("one"))
            // All tests share the keyring's file.
            try finish { try await keyring.removeCredential(of: Self.ann) }
        }
    }

    /// A database that KeePassXC has locked looks like this, whatever is in it.
    func testLockedKeyringThatListsNothingIsLocked() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            // All tests share the keyring's file.
            for account in [Self.ann, Self.bo] { try finish { try await keyring.removeCredential(of: account) } }
            XCTAssertNil(try finish { try await keyring.credential(of: Self.ann) })
            XCTAssertFalse(try finish { try await keyring.isLocked(Self.ann) })
            try service.lock()
            XCTAssertEqual(Self.failure { _ = try await keyring.credential(of: Self.ann) }, .locked)
            XCTAssertTrue(try finish { try await keyring.isLocked(Self.ann) })
        }
    }

    /// GNOME Keyring lists what is locked, so that nothing has to be unlocked to see that an account has no credential.
    func testLockedKeyringThatListsOtherItemsHasNoCredential() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            try finish { try await keyring.removeCredential(of: Self.ann) }
            try finish { try await keyring.store(AccountCredential("other"), of: Self.bo) }
            try service.lock()
            XCTAssertNil(try finish { try await keyring.credential(of: Self.ann) })
            XCTAssertFalse(try finish { try await keyring.isLocked(Self.ann) })
        }
    }

    /// Credentials are stored in the default collection. Of another one, it does not matter that it is locked.
    func testLockedCollectionBesideTheDefaultOneHidesNothing() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            // All tests share the keyring's file.
            for account in [Self.ann, Self.bo] { try finish { try await keyring.removeCredential(of: account) } }
            let other = try service.addLockedCollection()
            // Nothing to report: the next test would find one collection more.
            defer { try? FileManager.default.removeItem(at: other) }
            XCTAssertNil(try finish { try await keyring.credential(of: Self.ann) })
            XCTAssertFalse(try finish { try await keyring.isLocked(Self.ann) })
            try service.lock()
            XCTAssertTrue(try finish { try await keyring.isLocked(Self.ann) })
        }
    }

    func testMissingServiceIsUnavailable() {
        onMain {
            let keyring = Keyring()
            for call: @MainActor @Sendable () async throws -> Void in [
                { _ = try await keyring.credential(of: Self.ann) },
                { try await keyring.store(AccountCredential("x"), of: Self.ann) },
                { try await keyring.removeCredential(of: Self.ann) },
            ] {
                guard case .unavailable? = Self.failure(call) else { return XCTFail("not unavailable") }
            }
        }
    }

    @MainActor
    private static func failure(_ call: @escaping @MainActor @Sendable () async throws -> Void) -> CredentialStoreError?
    {
        do {
            try finish(call)
            return nil
        } catch {
            return error as? CredentialStoreError
        }
    }
}
