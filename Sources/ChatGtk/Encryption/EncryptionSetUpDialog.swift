import ChatCore
public import ChatViewModels
import ComposerGtk
import Foundation
public import GtkKit

/// Sets up encryption, confirms this device, or shows a new recovery key.
public final class EncryptionSetUpDialog {
    let widget: Dialog
    private let viewModel: EncryptionSetUpViewModel
    private let builder: Builder
    private let secret: EntryRow
    private let password: EntryRow
    private let saved: CheckButton
    private let announcements: PageAnnouncements
    private let busyFocus = BusyFocus()
    private let text = EncryptionText(.gettext)
    private var displayedState: EncryptionSetUpViewModel.State?
    private var rendering: Rendering?

    /// Presents the dialog, which retains itself until it is closed.
    @discardableResult
    public static func present(_ viewModel: EncryptionSetUpViewModel, over parent: Widget) -> EncryptionSetUpDialog {
        let dialog = EncryptionSetUpDialog(viewModel)
        dialog.widget.onCloseRequest { [weak dialog] in
            dialog?.clear()
            // GTK 4.8 reports a lost focus to a password field after the field is destroyed.
            if !Dialog.isInWindow { dialog?.widget.root?.focus = nil }
            dialog?.viewModel.send(.close)
            return false
        }
        dialog.widget.retain([dialog])
        dialog.widget.present(over: parent)
        dialog.focus(dialog.viewModel.state)
        dialog.announcements.start()
        return dialog
    }

    private init(_ viewModel: EncryptionSetUpViewModel) {
        self.viewModel = viewModel
        builder = Builder(resource: Resource.ui("encryption-set-up"))
        widget = Dialog(builder)
        secret = builder["secret"]
        password = builder["password"]
        saved = builder["saved"]
        announcements = PageAnnouncements(in: builder["overlay"])
        saved.wrapLabel()
        let losses: Box = builder["losses"]
        for loss in text.losses { losses.append(Self.line(loss)) }
        connect()
        rendering = Rendering({ viewModel.state }, { [weak self] in self?.render($0) })
    }

    private static func line(_ text: String) -> Widget {
        let row = Box(.horizontal, spacing: 12)
        let icon = Image(icon: "parlance-warning-symbolic")
        icon.addStyle("error")
        icon.valign = .start
        icon.marginTop = 2
        icon.hideFromAccessibility()
        let label = Label(text)
        label.wrap = true
        label.xalign = 0
        label.hexpand = true
        row.append(icon)
        row.append(label)
        return row
    }

    private func connect() {
        builder["back", Button.self].onClick { [weak viewModel] in viewModel?.send(.back) }
        builder["other_device", ActionRow.self].onActivated { [weak viewModel] in viewModel?.send(.useOtherDevice) }
        builder["recovery_key", ActionRow.self].onActivated { [weak viewModel] in viewModel?.send(.useRecoveryKey) }
        builder["reset_row", ActionRow.self].onActivated { [weak viewModel] in viewModel?.send(.reset) }
        builder["next", Button.self].onClick { [weak self] in self?.goOn() }
        builder["reset", Button.self].onClick { [weak self] in self?.confirmReset() }
        builder["later", Button.self].onClick { [weak widget] in widget?.close() }
        builder["copy", Button.self].onClick { [weak self] in self?.copy() }
        builder["save", Button.self].onClick { [weak self] in self?.save() }
        saved.onToggle { [weak viewModel] in viewModel?.send(.keySaved($0)) }
        for field in [secret, password] {
            field.labelButtons()
            field.onEntryActivated { [weak self] in self?.goOn() }
            field.onChange { [weak self] in self?.enable() }
        }
    }

    // MARK: Input

    private func goOn() {
        guard viewModel.state.canGoOn(secret: secret.text, password: password.text) else { return }
        switch viewModel.state.step {
        case .introduction: viewModel.send(.begin)
        case .recovering: viewModel.send(.recover(AccountCredential(secret.text)))
        case .password: viewModel.send(.password(AccountCredential(password.text)))
        case .showingKey, .done: viewModel.send(.finish)
        case .choosingMethod, .resetting, .over: break
        }
    }

    private func confirmReset() {
        Confirmation.present(text.resetting, over: widget) { [weak viewModel] in viewModel?.send(.reset) }
    }

    private func copy() {
        guard case .showingKey(let key) = viewModel.state.step else { return }
        widget.clipboard.setText(key.text)
        viewModel.send(.keyCopied)
    }

    private func save() {
        FileChooser.save(
            translated("Save Recovery Key"), accept: translated("_Save"), name: text.recoveryKeyFile, over: widget
        ) { [weak viewModel] file in
            if let file { viewModel?.send(.saveKey(file)) }
        }
    }

    private func enable() {
        builder["next", Button.self].isSensitive = viewModel.state.canGoOn(
            secret: secret.text, password: password.text)
    }

    /// Clears passwords and keys from the fields.
    private func clear() {
        for field in [secret, password] { field.text = "" }
        builder["key", Label.self].text = ""
    }

    /// The last announced page.
    var announced: String { announcements.announced }

    // MARK: Rendering

    private func render(_ state: EncryptionSetUpViewModel.State) {
        if state.step == .over { return widget.close() }
        let isNewPage = displayedState.map { $0.step != state.step } ?? false
        if isNewPage { clear() }
        busyFocus.prepare(for: state.isBusy, in: widget)
        widget.title = text.windowTitle(state)
        builder["title", Label.self].text = text.title(state)
        builder["page", Widget.self].setAccessibleLabel(text.title(state))
        builder["explanation", Label.self].text = text.explanation(state)
        let icon: Image = builder["icon"]
        icon.iconName = state.iconName
        icon.setStyle("error", state.step == .resetting)
        builder["back", Widget.self].isVisible = state.canGoBack
        builder["spinner", Spinner.self].isSpinning = state.isBusy
        // Before the focused row is hidden: GTK would move its focus after all of this.
        if isNewPage, state.step == .resetting { focus(state) }
        showPage(state)
        showButtons(state)
        let problem: Label = builder["problem"]
        problem.text = state.error.map { text.text(for: $0) } ?? ""
        problem.isVisible = state.error != nil
        enable()
        displayedState = state
        if isNewPage { focus(state) }
        busyFocus.restore(in: widget, isNewPage: isNewPage)
        // Last, as the report of a new focus interrupts it.
        announcements.show(text.announcement(state))
    }

    private func showPage(_ state: EncryptionSetUpViewModel.State) {
        builder["methods", Widget.self].isVisible = state.step == .choosingMethod
        builder["other_device", Widget.self].isVisible = state.hasOtherDevices
        let recovery: ActionRow = builder["recovery_key"]
        recovery.isVisible = state.hasRecovery
        recovery.setTitle(text.recoveryMethod(state))
        builder["methods", Widget.self].isSensitive = !state.isBusy
        builder["recovery_group", Widget.self].isVisible = state.step == .recovering
        secret.setTitle(text.recoveryField(state))
        builder["password_group", Widget.self].isVisible = state.step == .password
        builder["losses", Widget.self].isVisible = state.step == .resetting
        for field in [secret, password] { field.isEditable = !state.isBusy }
        let keyPage: Widget = builder["key_page"]
        keyPage.isVisible = state.showsKey
        if case .showingKey(let key) = state.step {
            builder["key", Label.self].text = key.text
            builder["copy", Button.self].label = text.copyButton(state)
            builder["save", Button.self].label = text.saveButton(state)
            if saved.isActive != state.isKeySaved { saved.isActive = state.isKeySaved }
        }
    }

    private func showButtons(_ state: EncryptionSetUpViewModel.State) {
        let next: Button = builder["next"]
        let label = text.nextButton(state)
        next.label = label
        next.isVisible = label != nil
        let reset: Button = builder["reset"]
        reset.isVisible = state.step == .resetting
        reset.isSensitive = !state.isBusy
        builder["later", Widget.self].isVisible = state.canPutOff
    }

    private func focus(_ state: EncryptionSetUpViewModel.State) {
        switch state.step {
        case .recovering: secret.grabFocus()
        case .password: password.grabFocus()
        case .introduction, .done: builder["next", Button.self].grabFocus()
        case .choosingMethod: builder[state.firstMethod, Widget.self].grabFocus()
        case .showingKey: builder["copy", Button.self].grabFocus()
        // Return must not reset.
        case .resetting: widget.root?.focus = nil
        case .over: break
        }
    }
}
