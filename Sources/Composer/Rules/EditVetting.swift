/// What of the changes that events ask for may be applied, by plug-ins and the limit.
struct EditVetting {
    let configuration: ComposerConfiguration
    let document: ComposerDocument

    /// Returns the part of an edit that interceptors and the limit allow, or `nil` if the edit is rejected. Reports
    /// denials and truncation.
    func admitted(
        _ edit: TextEdit, _ origin: EditOrigin, _ plugIns: inout PlugIns, _ transaction: inout EventTransaction
    ) -> String? {
        guard origin != .code, origin != .undo else { return edit.replacement }
        if edit.replacement.isEmpty, plugIns.suspension.ignoresDeletion(of: edit.range, in: document) {
            transaction.reject(.deletionIgnored)
            return nil
        }
        guard plugIns.allow(edit, origin: origin, in: document, &transaction) else { return nil }
        let (fitting, rejected) = configuration.fitting(edit.replacement, over: edit.range, in: document)
        guard rejected > 0 else { return fitting }
        transaction.reject(.limit(rejected: rejected))
        return fitting.isEmpty ? nil : fitting
    }

    /// Whether an automatic change stays within the hard limit. Reports it if not.
    func fits(adding units: Int, _ transaction: inout EventTransaction) -> Bool {
        guard !configuration.fitsLimit(adding: units, to: document) else { return true }
        transaction.reject(.overLimit)
        return false
    }

    /// Whether interceptors allow all edits of a change, which must not lengthen the text. Reports a denial.
    func allows(_ change: TextChange, _ plugIns: PlugIns, _ transaction: inout EventTransaction) -> Bool {
        var vetted = document
        for edit in change.edits {
            guard plugIns.allow(edit, origin: change.origin, in: vetted, &transaction) else { return false }
            _ = vetted.replace(edit.range, with: edit.replacement)
        }
        return true
    }
}
