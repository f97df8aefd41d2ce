import ChatCore
import ChatViewModels
import ComposerGtk
import Foundation
import GtkKit

/// A device of the account in the preferences.
final class DeviceRow: ArrangedRow {
    /// A device, and what can be done with it now.
    nonisolated struct Content: Equatable, Sendable {
        let device: AccountDevice
        let canVerify: Bool
        let canChange: Bool
    }

    let widget = ActionRow("")
    var id: String { device.id }

    private var device: AccountDevice
    private let text = EncryptionText(.gettext)
    private let mark = Image()
    private let confirming = DeviceRow.button("parlance-verified-symbolic")
    private let renaming = DeviceRow.button("parlance-edit-symbolic")
    private let signingOut = DeviceRow.button("system-log-out-symbolic")
    private var buttons: [Button] { [confirming, renaming, signingOut] }
    /// The button that had the focus when it became insensitive.
    private var formerFocus: Button?

    /// - Parameter parent: What the dialogs are presented over.
    init(_ device: AccountDevice, _ viewModel: EncryptionPreferencesViewModel, over parent: Widget) {
        self.device = device
        // The subtitle already has this information.
        mark.hideFromAccessibility()
        widget.addPrefix(mark)
        for button in buttons { widget.addSuffix(button) }
        let (text, id) = (text, device.id)
        confirming.onClick { [weak viewModel] in viewModel?.send(.verify(device: id)) }
        renaming.onClick { [weak self, weak viewModel, weak parent] in
            guard let parent, let device = self?.device else { return }
            Self.rename(device, over: parent) { viewModel?.send(.rename(device: id, to: $0)) }
        }
        signingOut.onClick { [weak self, weak viewModel, weak parent] in
            guard let parent, let device = self?.device else { return }
            Confirmation.present(text.signingOut(device), over: parent) {
                viewModel?.send(.signOut(device: id, password: nil))
            }
        }
    }

    func grabFocus() { widget.grabFocus() }

    /// Shows what is known of the same device by now.
    func update(_ content: Content) {
        device = content.device
        let name = text.name(device)
        widget.setTitle(name)
        widget.setSubtitle(text.detail(device, Self.dayOf))
        mark.iconName = device.trust.iconName
        mark.setStyle("success", device.trust == .confirmed)
        mark.setStyle("warning", device.trust == .unconfirmed)
        for (button, label) in [
            (confirming, translated("Confirm “{device}”", ["device": name])),
            (renaming, translated("Rename “{device}”", ["device": name])),
            (signingOut, translated("Sign Out “{device}”", ["device": name])),
        ] {
            button.tooltip = label
            button.setAccessibleLabel(label)
        }
        enableButtons(content.canChange)
        // GTK would give the focus of a hidden button to one elsewhere.
        if !content.canVerify, confirming.isFocus { renaming.grabFocus() }
        confirming.isVisible = content.canVerify
        signingOut.isVisible = !device.isThis
    }

    /// The row has the focus while a button that had it is insensitive, as that would lose it.
    private func enableButtons(_ isEnabled: Bool) {
        if !isEnabled, let focus = buttons.first(where: \.isFocus) {
            formerFocus = focus
            widget.grabFocus()
        }
        for button in buttons { button.isSensitive = isEnabled }
        guard isEnabled, let focus = formerFocus else { return }
        formerFocus = nil
        if widget.isFocus { focus.grabFocus() }
    }

    private static func dayOf(_ date: Date) -> String { DateText.desktop.day(date, .other(sameYear: false)) }

    private static func button(_ icon: String) -> Button {
        let button = Button(icon: icon)
        button.addStyle("flat")
        button.valign = .center
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
