import CGtk
package import Composer
import GtkKit

extension KeyChord {
    /// Returns `nil` for plain characters, which belong to the input method.
    init?(_ press: KeyPress) { self.init(keyval: press.keyval, modifiers: press.modifiers) }

    /// Returns `nil` for plain characters, which belong to the input method.
    init?(keyval: UInt32, modifiers state: GtkKit.Modifiers) {
        var modifiers: Modifiers = []
        let pairs: [(GtkKit.Modifiers, Modifiers)] = [
            (.shift, .shift), (.control, .control), (.alt, .alt), (.super, .meta),
        ]
        for (mask, modifier) in pairs where state.contains(mask) { modifiers.insert(modifier) }
        let character = KeyValue.character(keyval).flatMap { $0.value >= 0x20 ? $0 : nil }
        let isCharacter = character != nil && keyval != UInt32(GDK_KEY_Delete)
        if isCharacter, modifiers.isDisjoint(with: [.control, .alt, .meta]) { return nil }
        let upper = KeyValue.uppercase(keyval)
        guard let name = KeyValue.name(upper) else { return nil }
        let text = isCharacter ? KeyValue.character(upper).map { String(Character($0)) } : nil
        self.init(text ?? name, modifiers)
    }

    /// Whether the key types a visible character or is a dead key: those start a message wherever the focus is.
    package static func isWriting(_ key: Int32) -> Bool {
        let character = KeyValue.character(UInt32(bitPattern: key))?.value ?? 0
        return character > 0x20 && character != 0x7F || (GDK_KEY_dead_grave...GDK_KEY_dead_greek).contains(key)
    }

    /// The chord in the format of GTK's shortcuts window, such as `<Control>Return`.
    package var accelerator: String {
        let names: [(Modifiers, String)] = [
            (.control, "<Control>"), (.alt, "<Alt>"), (.shift, "<Shift>"), (.meta, "<Super>"),
        ]
        return names.filter { modifiers.contains($0.0) }.map(\.1).joined() + key
    }

    /// Whether the chord opens the context menu.
    var opensMenu: Bool { self == KeyChord("Menu") || self == KeyChord("F10", .shift) }
}
