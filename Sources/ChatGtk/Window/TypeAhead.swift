import Composer
import ComposerGtk
import GtkKit

extension TopLevel {
    /// Typing while a button or list has the focus starts a message.
    /// - Parameter view: returns the visible conversation, if any.
    func addTyping(in view: @escaping @MainActor () -> ConversationView?) {
        let keys = KeyController()
        keys.onPress { key in
            guard key.modifiers.isDisjoint(with: [.control, .alt, .super]), KeyChord.isWriting(key.key) else {
                return false
            }
            return view()?.type(key) ?? false
        }
        addController(keys)
    }
}
