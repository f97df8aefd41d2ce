public import GtkKit

/// Shows startup errors in a window, since users who launch from an icon see no terminal.
public enum StartFailureDialog {
    /// Why the store cannot be opened.
    public enum Cause: Equatable, Sendable {
        case unwritableFolder(String)
        case diskFull(String)
        /// Another process has locked the folder.
        case folderInUse(String)
        /// A newer version has written the store.
        case newerVersion(String)
        /// An error with a technical description.
        case other(reason: String)
    }

    /// - Parameter quit: Called when the user closes the dialog.
    public static func present(application: Application, _ cause: Cause, quit: @escaping @MainActor () -> Void) {
        let dialog = MessageDialog(over: nil, heading: heading(cause), body: body(cause))
        dialog.setApplication(application)
        dialog.addResponse("quit", translated("_Quit"))
        dialog.setResponses(default: "quit", close: "quit")
        dialog.onResponse { quit() }
        dialog.present()
    }

    private static func heading(_ cause: Cause) -> String {
        switch cause {
        case .unwritableFolder: translated("Conversations Cannot Be Saved")
        case .diskFull: translated("The Disk Is Full")
        case .folderInUse: translated("Conversations Are in Use")
        case .newerVersion: translated("A Newer Parlance Is Needed")
        case .other: translated("Parlance Cannot Start")
        }
    }

    private static func body(_ cause: Cause) -> String {
        switch cause {
        case .unwritableFolder(let path):
            translated("Parlance keeps them in this folder, which it cannot create or write to:") + "\n\n" + path
        case .diskFull(let path):
            translated("Free some space on the disk with this folder, then start Parlance again:") + "\n\n" + path
        case .folderInUse(let path): translated("Another program has this folder open:") + "\n\n" + path
        case .newerVersion(let path):
            translated("A newer version of Parlance saved the conversations in this folder. Install it to read them:")
                + "\n\n" + path
        case .other(let reason): reason
        }
    }
}
