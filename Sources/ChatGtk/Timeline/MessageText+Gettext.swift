import ChatCore
import ChatViewModels
import ComposerGtk

extension MessageText {
    /// The texts in the user's language, with times in the user's locale.
    static let localized = MessageText(.gettext, time: DateText.desktop.time, fullDate: DateText.desktop.full)
}
