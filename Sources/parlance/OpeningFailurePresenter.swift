import ChatGtk
import ChatStore
import ChatViewModels
import Foundation
import GtkKit

/// Says why the session could not be opened: in a dialog, and in a line for users of a terminal.
struct OpeningFailurePresenter {
    let application: Application
    /// Repairs a damaged store.
    let repair: @MainActor () -> Void
    /// Ends the program after a dialog.
    let quit: @MainActor () -> Void

    func present(_ error: any Error) {
        let folder = DataFolder.store.path
        switch error as? StoreOpeningError {
        case .unwritable(let path)?: present(.unwritableFolder(path), "cannot write to \(path)")
        case .diskFull(let path)?: present(.diskFull(path), "no space left for \(path)")
        case .busy?: present(.folderInUse(folder), "another process uses \(folder)")
        case .newerSchema(let found, let supported)?:
            let formats = "(format \(found), this one knows \(supported))"
            present(.newerVersion(folder), "\(folder) was written by a newer Parlance \(formats)")
        case .damaged(_, let reason)?:
            DamagedStoreDialog.present(
                application: application, reason: reason, folder: folder, repair: repair, quit: quit)
        case nil: present(.other(reason: "\(error)"), "\(error)")
        }
    }

    private func present(_ failure: StartFailure, _ line: String) {
        StandardError.write(line)
        StartFailureDialog.present(application: application, failure, quit: quit)
    }
}

/// Lines for users of a terminal.
enum StandardError {
    static func write(_ line: String) { FileHandle.standardError.write(Data("parlance: \(line)\n".utf8)) }
}
