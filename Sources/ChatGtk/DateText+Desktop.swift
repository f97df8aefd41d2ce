import ChatViewModels
import ComposerGtk
import GtkKit

extension DateText {
    static let desktop = DateText(.gettext, isTwelveHour: { ClockFormat.desktop.isTwelveHour }) {
        $0.formatted(pattern: $1)
    }
}
