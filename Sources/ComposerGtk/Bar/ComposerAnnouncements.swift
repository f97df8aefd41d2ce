import Composer
import GtkKit

/// Announces to assistive technology when editing a message begins or ends, and when the text becomes too long or short
/// enough again (SLK-14, SLK-65).
final class ComposerAnnouncements {
    let announcer = Announcer()
    private var isEditing = false
    private var isExceeded = false

    func update(_ state: ComposerState) {
        let editing = state.editing != nil
        let excess = state.counter.flatMap { $0.exceeded ? $0.excess : nil }
        if editing != isEditing {
            announcer.post(editing ? translated("Editing Message") : translated("Stopped editing"))
        } else if (excess != nil) != isExceeded {
            announcer.post(
                excess.map {
                    translatedPlural("{count} character over the limit", "{count} characters over the limit", count: $0)
                } ?? translated("Message within the limit"))
        }
        isEditing = editing
        isExceeded = excess != nil
    }
}
