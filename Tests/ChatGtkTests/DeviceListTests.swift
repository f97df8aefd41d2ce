import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// The account's devices in the preferences, by keyboard and for screen readers.
final class DeviceListTests: GtkTestCase {
    @MainActor
    private struct Preferences {
        let service: FakeEncryptionService
        let viewModel: EncryptionPreferencesViewModel
        let page: Box

        func button(_ label: String) throws -> Widget {
            try XCTUnwrap(page.descendants.first { $0.tooltip == label }, label)
        }

        func row(_ title: String) -> Widget? {
            page.descendants.first {
                $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains(title)
            }
        }

        /// Has the list show these devices.
        func show(_ devices: [AccountDevice]) {
            service.set(devices)
            viewModel.send(.loadDevices)
            XCTAssertTrue(MainLoop.pump { viewModel.state.devices == devices })
        }
    }

    @MainActor private static let computer = AccountDevice(id: "DESK", name: "Desk", isThis: true, trust: .confirmed)
    @MainActor private static let phone = AccountDevice(id: "PHONE", name: "Phone", trust: .unconfirmed)
    @MainActor private static let tablet = AccountDevice(id: "TABLET", name: "Tablet", trust: .confirmed)

    @MainActor
    private static func withPreferences(_ body: (Preferences) throws -> Void) throws {
        try Resource.load()
        let service = FakeEncryptionService()
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        service.set([computer, phone, tablet])
        let viewModel = EncryptionCoordinator(service) { $0.rawValue }
            .preferences(account: "@ann:example.org", name: "Ann")
        let groups = EncryptionPreferencesGroups(viewModel)
        let page = Box(.vertical, spacing: 12)
        for group in groups.groups { page.append(group) }
        let window = TestWindow(page, width: 360, height: 900)
        let preferences = Preferences(service: service, viewModel: viewModel, page: page)
        // The devices may be listed before the account's status is known, without which none can be confirmed.
        XCTAssertTrue(MainLoop.pump { (try? preferences.button("Confirm “Phone”"))?.isMapped == true })
        try withExtendedLifetime(groups) { try body(preferences) }
        OpenDialogs.closeAll()
        window.close()
    }

    func testRenamedDeviceKeepsTheFocus() throws {
        try onMain {
            try Self.withPreferences { preferences in
                let button = try preferences.button("Rename “Phone”")
                XCTAssertTrue(button.grabFocus())
                preferences.viewModel.send(.rename(device: "PHONE", to: "Old phone"))
                XCTAssertTrue(MainLoop.pump { preferences.row("Old phone") != nil })
                XCTAssertTrue(button.isFocus)
                XCTAssertTrue(try preferences.button("Rename “Old phone”").isSame(as: button))
                XCTAssertNil(preferences.row("Phone"))
            }
        }
    }

    func testButtonsOfABusyDeviceAreInsensitiveAndTheFocusComesBack() throws {
        try onMain {
            try Self.withPreferences { preferences in
                let gate = Gate()
                preferences.service.hold("renameDevice", at: gate)
                let button = try preferences.button("Rename “Phone”")
                XCTAssertTrue(button.grabFocus())
                preferences.viewModel.send(.rename(device: "PHONE", to: "Old phone"))
                XCTAssertTrue(MainLoop.pump { !button.isSensitive })
                XCTAssertTrue(preferences.row("Phone")?.isFocus == true)
                XCTAssertFalse(try preferences.button("Sign Out “Phone”").isSensitive)
                XCTAssertTrue(try preferences.button("Sign Out “Tablet”").isSensitive)
                gate.open()
                XCTAssertTrue(MainLoop.pump { preferences.row("Old phone") != nil })
                XCTAssertTrue(button.isSensitive && button.isFocus)
            }
        }
    }

    func testDeviceThatMovesInTheListKeepsTheFocus() throws {
        try onMain {
            try Self.withPreferences { preferences in
                let button = try preferences.button("Sign Out “Tablet”")
                XCTAssertTrue(button.grabFocus())
                var seen = Self.tablet
                seen.lastSeen = Date(timeIntervalSince1970: 1_800_000_000)
                preferences.show([Self.computer, seen, Self.phone])
                XCTAssertTrue(
                    MainLoop.pump {
                        preferences.page.visibleTexts.filter { ["Desk", "Tablet", "Phone"].contains($0) }
                            == ["Desk", "Tablet", "Phone"]
                    })
                XCTAssertTrue(button.isFocus)
            }
        }
    }

    func testFocusStaysInTheRowOfADeviceThatWasConfirmed() throws {
        try onMain {
            try Self.withPreferences { preferences in
                let confirming = try preferences.button("Confirm “Phone”")
                XCTAssertTrue(confirming.grabFocus())
                var confirmed = Self.phone
                confirmed.trust = .confirmed
                preferences.show([Self.computer, confirmed, Self.tablet])
                XCTAssertTrue(MainLoop.pump { !confirming.isMapped })
                XCTAssertTrue(try preferences.button("Rename “Phone”").isFocus)
            }
        }
    }

    func testFocusGoesOnFromADeviceThatWasSignedOut() throws {
        try onMain {
            try Self.withPreferences { preferences in
                XCTAssertTrue(try preferences.button("Sign Out “Phone”").grabFocus())
                preferences.viewModel.send(.signOut(device: "PHONE", password: nil))
                XCTAssertTrue(MainLoop.pump { preferences.row("Phone") == nil })
                XCTAssertTrue(preferences.row("Tablet")?.isFocus == true)
            }
        }
    }

    func testFailureIsAnAlert() throws {
        try onMain {
            try Self.withPreferences { preferences in
                preferences.service.fail("renameDevice", with: .unreachable)
                preferences.viewModel.send(.rename(device: "PHONE", to: "Old phone"))
                let problem = "Could not connect to the server."
                XCTAssertTrue(MainLoop.pump { preferences.row(problem) != nil })
                let row = try XCTUnwrap(preferences.row(problem))
                XCTAssertEqual(gtk_accessible_get_accessible_role(row.cast()), GTK_ACCESSIBLE_ROLE_ALERT)
            }
        }
    }

    private static let wrongPassword = "Incorrect password."

    /// Whether the only open dialog says that the password was wrong.
    @MainActor
    private static func promptSaysWrong() -> Bool {
        guard OpenDialogs.all.count == 1, let prompt = OpenDialogs.alert else { return false }
        return prompt.visibleTexts.contains { $0.hasPrefix(wrongPassword) }
    }

    func testWrongPasswordIsNamedWhereItIsAskedForAgain() throws {
        try onMain {
            try Self.withPreferences { preferences in
                preferences.service.fail("signOutDevices", with: .passwordRequired, .wrongPassword, .wrongPassword)
                preferences.viewModel.send(.signOut(device: "PHONE", password: nil))
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                XCTAssertFalse(Self.promptSaysWrong())
                for password in ["milk", "water"] {
                    let former = try XCTUnwrap(OpenDialogs.alert)
                    try RealInput.activate(former)
                    try RealInput.type(password)
                    try RealInput.press("Return")
                    // The former prompt may say so as well, and is about to close.
                    XCTAssertTrue(
                        MainLoop.pump {
                            preferences.service.calls.contains("signOutDevices PHONE \(password)")
                                && Self.promptSaysWrong() && OpenDialogs.alert?.isSame(as: former) == false
                        }, password)
                    XCTAssertNil(preferences.row(Self.wrongPassword), "not also behind the prompt")
                }
                try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
                try RealInput.type("tea")
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { preferences.service.calls.contains("signOutDevices PHONE tea") })
                XCTAssertTrue(MainLoop.pump { preferences.row("Phone") == nil && OpenDialogs.all.isEmpty })
            }
        }
    }
}
