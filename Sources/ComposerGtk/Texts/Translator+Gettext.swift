package import ChatCore
import GtkKit

extension Translator {
    /// Translates with the gettext catalogs of the host program.
    package nonisolated static let gettext = Translator(
        translate: { translated($0) }, plural: { translatedPlural($0, $1, count: $2) })
}
