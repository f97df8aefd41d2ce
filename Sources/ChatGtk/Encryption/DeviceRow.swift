import ChatCore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit

/// A device of the account in the preferences.
enum DeviceRow {
    static func make(
        _ device: AccountDevice, canVerify: Bool, _ viewModel: EncryptionPreferencesViewModel, over parent: Widget
    ) -> Widget {
        let text = EncryptionText(.gettext)
        let name = text.name(device)
        let row = ActionRow(name)
        row.setSubtitle(text.detail(device, dayOf))
        let mark = Image(icon: device.trust.iconName)
        mark.setStyle("success", device.trust == .confirmed)
        mark.setStyle("warning", device.trust == .unconfirmed)
        // The subtitle already has this information.
        mark.hideFromAccessibility()
        row.addPrefix(mark)
        if canVerify {
            let label = translated("Confirm “{device}”", ["device": name])
            row.addSuffix(
                button("parlance-verified-symbolic", label) { [weak viewModel] in
                    viewModel?.send(.verify(device: device.id))
                })
        }
        let renaming = translated("Rename “{device}”", ["device": name])
        row.addSuffix(
            button("parlance-edit-symbolic", renaming) { [weak viewModel, weak parent] in
                guard let parent else { return }
                rename(device, over: parent) { viewModel?.send(.rename(device: device.id, to: $0)) }
            })
        guard !device.isThis else { return row }
        let signingOut = translated("Sign Out “{device}”", ["device": name])
        row.addSuffix(
            button("system-log-out-symbolic", signingOut) { [weak viewModel, weak parent] in
                guard let parent else { return }
                Confirmation.present(text.signingOut(device), over: parent) {
                    viewModel?.send(.signOut(device: device.id, password: nil))
                }
            })
        return row
    }

    private static func dayOf(_ date: Date) -> String { DateText.desktop.day(date, .other(sameYear: false)) }

    private static func button(_ icon: String, _ label: String, _ action: @escaping @MainActor () -> Void) -> Button {
        let button = Button(icon: icon)
        button.addStyle("flat")
        button.valign = .center
        button.tooltip = label
        button.setAccessibleLabel(label)
        button.onClick(action)
        return button
    }

    private static func rename(
        _ device: AccountDevice, over parent: Widget, _ renamed: @escaping @MainActor (String) -> Void
    ) {
        let dialog = MessageDialog(heading: translated("Rename Device"))
        let entry = Entry()
        entry.text = device.name
        entry.activatesDefault = true
        entry.maxLength = 100
        entry.setAccessibleLabel(translated("Name"))
        dialog.setExtraChild(entry)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("rename", translated("_Rename"), .suggested)
        dialog.setResponses(default: "rename", close: "cancel")
        // The field is gone by the time of the response.
        let name = TypedName(device.name)
        entry.onChange { [weak entry] in if let entry, entry.isMapped { name.text = entry.text } }
        dialog.onResponse("rename") { renamed(name.text) }
        dialog.retain([dialog, entry])
        dialog.present(over: parent)
        entry.grabFocus()
    }
}

private final class TypedName {
    var text: String

    init(_ text: String) { self.text = text }
}
