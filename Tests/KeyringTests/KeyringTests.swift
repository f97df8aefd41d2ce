import ChatCore
import Foundation
import GtkTestSupport
import Keyring
import XCTest

/// The keyring over a real Secret Service (gnome-keyring) on the session's own bus.
final class KeyringTests: GtkTestCase {
    private static let ann = "@ann:example.org"

    func testKeepsReplacesAndRemoves() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            XCTAssertNil(try finish { try await keyring.secret(of: Self.ann) })
            try finish { try await keyring.keep(Secret("one"), of: Self.ann) }
            try finish { try await keyring.keep(Secret("zwei ✓"), of: Self.ann) }
            try finish { try await keyring.keep(Secret("other"), of: "@bo:example.org") }
            // Another start of the application finds it.
            let again = Keyring()
            XCTAssertEqual(try finish { try await again.secret(of: Self.ann) }, Secret("zwei ✓"))
            try finish { try await again.removeSecret(of: Self.ann) }
            try finish { try await again.removeSecret(of: Self.ann) }
            XCTAssertNil(try finish { try await again.secret(of: Self.ann) })
            XCTAssertEqual(try finish { try await again.secret(of: "@bo:example.org") }, Secret("other"))
        }
    }

    func testOneThatIsLockedSaysSoAndOpensAgain() throws {
        try onMain {
            let service = try SecretService()
            defer { service.end() }
            let keyring = Keyring()
            try finish { try await keyring.keep(Secret("one"), of: Self.ann) }
            try service.lock()
            // Nobody is there to answer the question: it is as if it were closed.
            XCTAssertEqual(Self.failure { _ = try await keyring.secret(of: Self.ann) }, .locked)
            service.end()
            let open = try SecretService()
            defer { open.end() }
            // In a session with another service than the one before.
            XCTAssertEqual(try finish { try await keyring.secret(of: Self.ann) }, Secret("one"))
        }
    }

    func testWithoutAServiceItIsUnavailable() {
        onMain {
            let keyring = Keyring()
            for call: @MainActor @Sendable () async throws -> Void in [
                { _ = try await keyring.secret(of: Self.ann) }, { try await keyring.keep(Secret("x"), of: Self.ann) },
                { try await keyring.removeSecret(of: Self.ann) },
            ] {
                guard case .unavailable? = Self.failure(call) else { return XCTFail("not unavailable") }
            }
        }
    }

    @MainActor
    private static func failure(_ call: @escaping @MainActor @Sendable () async throws -> Void) -> SecretStorageError? {
        do {
            try finish(call)
            return nil
        } catch {
            return error as? SecretStorageError
        }
    }
}
