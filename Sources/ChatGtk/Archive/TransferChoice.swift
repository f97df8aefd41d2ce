import CGtk
import ChatCore
import Foundation
import GtkKit

/// Dialogs that precede an export or import.
enum TransferChoice {
    /// Asks for a format and a destination folder.
    static func export(of name: String, over parent: Widget, _ chosen: @escaping @MainActor (ExportFormat, URL) -> Void)
    {
        let dialog = Widget(
            sinking: adw_message_dialog_new(
                parent.cast(), translated("Export “%s”?").replacing("%s", with: name),
                translated(
                    "All messages and their files are written into a new folder. Nobody needs Parlance to read them.")))
        let box = Box(.vertical, spacing: 6)
        gtk_widget_set_halign(box.cast(), GTK_ALIGN_CENTER)
        let choices: [(ExportFormat, Widget)] = ExportFormat.allCases.map { format in
            (format, Widget(sinking: gtk_check_button_new_with_label(label(format))))
        }
        for (_, button) in choices {
            if !button.isSame(as: choices[0].1) { gtk_check_button_set_group(button.cast(), choices[0].1.cast()) }
            box.append(button)
        }
        gtk_check_button_set_active(choices[0].1.cast(), 1)
        adw_message_dialog_set_extra_child(dialog.cast(), box.cast())
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("export", translated("Choose _Folder…"))
        adw_message_dialog_set_response_appearance(dialog.cast(), "export", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(dialog.cast(), "export")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        let retained = RetainedWidgets(choices.map(\.1))
        dialog.connect("response::export") { [weak parent] _ in
            let format = choices.first { gtk_check_button_get_active($0.1.cast()) != 0 }?.0 ?? .html
            guard let parent else { return }
            FileChooser.openFolder(translated("Export Into"), accept: translated("_Export"), over: parent) { folder in
                if let folder { chosen(format, folder) }
            }
        }
        dialog.connect("response") { _ in retained.end() }
        gtk_window_present(dialog.cast())
    }

    private static func label(_ format: ExportFormat) -> String {
        switch format {
        case .html: translated("Web page (HTML)")
        case .markdown: translated("Text with Markdown")
        case .json: translated("For programs (JSON)")
        }
    }

    /// Asks for a file or folder to import.
    static func source(over parent: Widget, _ chosen: @escaping @MainActor (URL) -> Void) {
        let dialog = Widget(
            sinking: adw_message_dialog_new(
                parent.cast(), translated("Import Conversations"),
                translated(
                    "Choose what another program exported: Telegram (JSON), WhatsApp (text or ZIP), Slack (folder or ZIP) or Element (JSON). Each conversation becomes a room on this computer."
                )))
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("folder", translated("Choose F_older…"))
        dialog.addResponse("file", translated("Choose _File…"))
        adw_message_dialog_set_response_appearance(dialog.cast(), "file", ADW_RESPONSE_SUGGESTED)
        adw_message_dialog_set_default_response(dialog.cast(), "file")
        adw_message_dialog_set_close_response(dialog.cast(), "cancel")
        dialog.connect("response::file") { [weak parent] _ in
            guard let parent else { return }
            FileChooser.openFile(translated("Import From"), accept: translated("_Import"), over: parent) { file in
                if let file { chosen(file) }
            }
        }
        dialog.connect("response::folder") { [weak parent] _ in
            guard let parent else { return }
            FileChooser.openFolder(translated("Import From"), accept: translated("_Import"), over: parent) { folder in
                if let folder { chosen(folder) }
            }
        }
        gtk_window_present(dialog.cast())
    }
}
