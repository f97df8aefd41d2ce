import ChatCore
import ChatViewModels
import GtkKit

/// Asks for a password or passphrase, without retaining it.
enum PasswordPrompt {
    /// Asks for the account's password.
    /// - Parameter problem: Why it is asked for again.
    static func presentPassword(
        over parent: Widget, problem: String? = nil, cancelled: @escaping @MainActor () -> Void,
        _ entered: @escaping @MainActor (AccountCredential) -> Void
    ) {
        let reason = translated("The server asks for the password of your account.")
        present(
            over: parent, heading: translated("Enter Your Password"),
            body: problem.map { $0 + "\n" + reason } ?? reason,
            fields: [translated("Password")], accept: translated("_Continue"), cancelled: cancelled,
            isValid: { !$0[0].isEmpty }, entered)
    }

    /// Asks for the passphrase of a key file.
    static func presentPassphrase(
        over parent: Widget, _ entered: @escaping @MainActor (AccountCredential) -> Void
    ) {
        present(
            over: parent, heading: translated("Enter Passphrase"),
            body: translated("The file was exported with a passphrase."),
            fields: [translated("Passphrase")], accept: translated("_Import"), isValid: { !$0[0].isEmpty }, entered)
    }

    /// Asks twice for the passphrase of a new key file.
    static func presentNewPassphrase(
        over parent: Widget, _ entered: @escaping @MainActor (AccountCredential) -> Void
    ) {
        present(
            over: parent, heading: translated("Export Keys"),
            body: translated("Whoever has the file and the passphrase can read your encrypted messages."),
            fields: [translated("Passphrase"), translated("Repeat Passphrase")], accept: translated("_Choose File…"),
            isValid: { EncryptionPreferencesViewModel.State.isPassphrase($0[0], repeated: $0[1]) },
            problem: { texts, isDone in
                let isMistyped = EncryptionPreferencesViewModel.State.isMistyped(texts[0], repeated: texts[1])
                return isMistyped || isDone && !texts[0].isEmpty ? translated("The passphrases do not match.") : ""
            }, entered)
    }

    private static func present(
        over parent: Widget, heading: String, body: String, fields titles: [String], accept: String,
        cancelled: @escaping @MainActor () -> Void = {}, isValid: @escaping @MainActor ([String]) -> Bool,
        problem: (@MainActor (_ texts: [String], _ isDone: Bool) -> String)? = nil,
        _ entered: @escaping @MainActor (AccountCredential) -> Void
    ) {
        let dialog = MessageDialog(heading: heading, body: body)
        let box = Box(.vertical, spacing: 6)
        let fields = titles.map { PasswordEntry($0) }
        for field in fields { box.append(field) }
        let note = problem.map { _ in Label("") }
        if let note {
            // Even while it is empty: the fields must not move.
            note.xalign = 0
            note.addStyle("caption")
            note.addStyle("error")
            box.append(note)
        }
        dialog.setExtraChild(box)
        dialog.addResponse("cancel", translated("_Cancel"))
        dialog.addResponse("accept", accept, .suggested)
        dialog.setResponses(default: "accept", close: "cancel")
        dialog.setResponse("accept", isEnabled: false)
        let form = PasswordForm(count: fields.count, isValid)
        for (index, field) in fields.enumerated() {
            field.onChange { [weak dialog, weak field, weak note, weak last = fields.last, form] in
                // A field that is being destroyed reports one more change, and has no text to read.
                guard let field, field.isMapped else { return }
                form.texts[index] = field.text
                dialog?.setResponse("accept", isEnabled: form.isValid)
                if let problem { show(problem(form.texts, false), in: note, of: last) }
            }
            let next = index + 1 < fields.count ? fields[index + 1] : nil
            field.onActivate { [weak dialog, weak field, weak next, weak note, form] in
                guard form.isValid else {
                    if let next { return _ = next.grabFocus() }
                    if let problem { show(problem(form.texts, true), in: note, of: field) }
                    return
                }
                form.answer(with: entered)
                close(dialog)
            }
        }
        dialog.onResponse("accept") { form.answer(with: entered) }
        dialog.onResponse("cancel") { form.cancel(cancelled) }
        if !Dialog.isInWindow {
            // GTK 4.8 reports a lost focus to a password field after the field is destroyed.
            dialog.onCloseRequest { [weak dialog] in
                dialog?.root?.focus = nil
                return false
            }
        }
        dialog.retain([dialog, note].compactMap(\.self) + fields)
        dialog.present(over: parent)
        fields.first?.grabFocus()
    }

    private static func show(_ problem: String, in note: Label?, of field: Widget?) {
        guard let note, note.text != problem else { return }
        note.text = problem
        field?.setAccessibleDescription(problem)
    }

    /// Closes a dialog after the key press has been handled, as GTK still uses the field that received it.
    private static func close(_ dialog: Dialog?) {
        Task { [weak dialog] in
            await MainLoop.idle()
            dialog?.close()
        }
    }
}

/// The fields of a prompt.
private final class PasswordForm {
    var texts: [String]
    private var isAnswered = false
    private let check: @MainActor ([String]) -> Bool

    init(count: Int, _ check: @escaping @MainActor ([String]) -> Bool) {
        texts = Array(repeating: "", count: count)
        self.check = check
    }

    var isValid: Bool { check(texts) }

    /// Passes the typed text on, once, and clears it.
    func answer(with entered: @MainActor (AccountCredential) -> Void) {
        guard !isAnswered else { return }
        let secret = AccountCredential(texts.first ?? "")
        forget()
        entered(secret)
    }

    /// A dialog that closes after an answer also reports a cancellation: ignore it.
    func cancel(_ cancelled: @MainActor () -> Void) {
        guard !isAnswered else { return }
        forget()
        cancelled()
    }

    private func forget() {
        isAnswered = true
        texts = texts.map { _ in "" }
    }
}
