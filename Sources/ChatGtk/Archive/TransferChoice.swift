import ChatCore
import ChatViewModels
import Foundation
import GtkKit

/// Dialogs that precede an export or import.
enum TransferChoice {
    private static var texts: TransferText { TransferText(.desktop) }

    /// Asks for a format and a destination folder.
    static func export(of name: String, over parent: Widget, _ chosen: @escaping @MainActor (ExportFormat, URL) -> Void)
    {
        let dialog = MessageDialog(heading: texts.exportHeading(name), body: texts.exportExplanation)
        let box = Box(.vertical, spacing: 6)
        box.halign = .center
        let choices = ExportFormat.allCases.map { ($0, CheckButton(texts.name(of: $0))) }
        for (_, button) in choices {
            if !button.isSame(as: choices[0].1) { button.join(choices[0].1) }
            box.append(button)
        }
        choices[0].1.isActive = true
        dialog.setExtraChild(box)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("export", translated("Choose _Folder…"), .suggested)
        dialog.setResponses(default: "export", close: "cancel")
        dialog.retain(choices.map(\.1))
        dialog.onResponse("export") { [weak parent] in
            let format = choices.first { $0.1.isActive }?.0 ?? .html
            guard let parent else { return }
            FileChooser.openFolder(translated("Export To"), accept: translated("_Export"), over: parent) { folder in
                if let folder { chosen(format, folder) }
            }
        }
        dialog.present(over: parent)
    }

    /// Asks for a file or folder to import.
    static func source(over parent: Widget, _ chosen: @escaping @MainActor (URL) -> Void) {
        let dialog = MessageDialog(
            heading: translated("Import Chat History"),
            body: translated(
                "Import chats exported from Telegram (JSON), WhatsApp (text or ZIP), Slack (folder or ZIP), or Element (JSON). Each chat becomes a room on this computer."
            ))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("folder", translated("Open F_older…"))
        dialog.addResponse("file", translated("Open _File…"), .suggested)
        dialog.setResponses(default: "file", close: "cancel")
        dialog.onResponse("file") { [weak parent] in
            guard let parent else { return }
            FileChooser.openFile(translated("Import From"), accept: translated("_Import"), over: parent) { file in
                if let file { chosen(file) }
            }
        }
        dialog.onResponse("folder") { [weak parent] in
            guard let parent else { return }
            FileChooser.openFolder(translated("Import From"), accept: translated("_Import"), over: parent) { folder in
                if let folder { chosen(folder) }
            }
        }
        dialog.present(over: parent)
    }
}
