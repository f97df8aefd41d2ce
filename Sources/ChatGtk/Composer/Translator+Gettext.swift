import ChatCore
import GtkKit

extension Translator {
    /// By the catalogues of the program that the widgets are in.
    nonisolated static let gettext = Translator(
        translate: { translated($0) }, plural: { translated($0, $1, count: $2) })
}
