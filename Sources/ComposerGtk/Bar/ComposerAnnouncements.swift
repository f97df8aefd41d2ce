import Composer
import ComposerSessions
import GtkKit

/// Announces changes of a composer's state to assistive technology.
final class ComposerAnnouncements {
    let announcer = Announcer()
    private var announcedState: ComposerState?

    func update(_ state: ComposerState) {
        if let text = ComposerText.desktop.announcement(state, after: announcedState) { announcer.post(text) }
        announcedState = state
    }
}
