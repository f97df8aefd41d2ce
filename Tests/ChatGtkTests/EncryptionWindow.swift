import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// A main window whose account has encryption, and what its dialogs have in common.
@MainActor
enum EncryptionWindow {
    /// Registered but not run: a `GtkApplicationWindow` needs an application.
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.EncryptionTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    /// Opens the main window of an account with encryption.
    static func with(
        _ encryption: FakeEncryptionService, _ body: (AccountsCoordinator, MainWindow) throws -> Void
    ) throws {
        try Resource.load()
        Resource.loadStyle()
        let fixture = try ChatFixture()
        let coordinator = ConversationCoordinator(
            ConversationEnvironment(service: fixture.backend, encryption: encryption))
        let accounts = AccountsCoordinator(local: coordinator)
        let window = MainWindow(application: application, accounts: accounts, settings: nil)
        window.present()
        XCTAssertTrue(MainLoop.pump { window.window.isMapped })
        try body(accounts, window)
        OpenDialogs.closeAll()
        try window.finishClosing()
        try fixture.close()
    }

    /// Whether screen readers find the region whose name is the announcement.
    static func hasStatusRegion(_ dialog: Dialog) -> Bool {
        dialog.descendants.contains {
            $0.isMapped && gtk_accessible_get_accessible_role($0.cast()) == GTK_ACCESSIBLE_ROLE_STATUS
        }
    }
}
