import ChatCore
import Composer

/// The keys as the user has set them, with the names that they have in the preferences.
struct GuideKeys: Equatable, Sendable {
    var send: String
    var newLine: String

    init(_ key: SendKey = .return, translator: Translator = .untranslated) {
        switch key {
        case .return: (send, newLine) = (translator("Return"), translator("Shift+Return"))
        case .ctrlReturn: (send, newLine) = (translator("Ctrl+Return"), translator("Return"))
        }
    }
}
