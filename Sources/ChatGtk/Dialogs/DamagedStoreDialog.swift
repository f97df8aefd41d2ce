public import ChatViewModels
import ComposerGtk
public import GtkKit

/// Dialogs about a damaged store.
public enum DamagedStoreDialog {
    /// Asks whether to repair a store that cannot be opened.
    ///
    /// - Parameters:
    ///   - reason: The technical finding.
    ///   - folder: The store's folder, which a repair renames and preserves.
    public static func present(
        application: Application, reason: String, folder: String, repair: @escaping @MainActor () -> Void,
        quit: @escaping @MainActor () -> Void
    ) {
        let damage = StoreDamage.unreadable(reason: reason, folder: folder)
        let dialog = MessageDialog(heading: damage.heading(.gettext), body: damage.body(.gettext))
        dialog.addResponse("quit", translated("_Quit"))
        dialog.addResponse("repair", translated("_Recover"), .suggested)
        dialog.setResponses(default: "repair", close: "quit")
        dialog.onResponse("repair") { repair() }
        dialog.onResponse("quit") { quit() }
        dialog.present(over: nil, in: application)
    }

    /// Reports what the repair recovered, and where the damaged folder is.
    public static func presentResult(
        over parent: Widget, rooms: Int, messages: Int, pending: Int, setAside: String
    ) {
        present(
            .repaired(rooms: rooms, messages: messages, unsentTexts: pending, setAside: setAside), over: parent)
    }

    /// Reports that the histories of accounts were repaired when they were opened.
    public static func presentRepairs(_ repairs: [AccountRepair], over parent: Widget) {
        present(.accountsRepaired(repairs), over: parent)
    }

    /// Reports damage found while the store is in use.
    public static func presentFinding(over parent: Widget, reason: String) {
        present(.found(reason: reason), over: parent)
    }

    private static func present(_ damage: StoreDamage, over parent: Widget) {
        let dialog = MessageDialog(heading: damage.heading(.gettext), body: damage.body(.gettext))
        dialog.addResponse("close", translated("_Close"))
        dialog.setResponses(default: "close", close: "close")
        dialog.present(over: parent)
    }
}
