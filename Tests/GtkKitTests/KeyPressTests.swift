import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

/// The symbols by which shortcuts know keys.
final class KeyPressTests: GtkTestCase {
    /// ⚠ Ctrl+Z did nothing while its key typed another script's letter.
    func testShortcutsUseTheLatinLetterOfAnotherLayout() {
        onMain {
            let (ya, zain, z) = (UInt32(GDK_KEY_Cyrillic_ya), UInt32(GDK_KEY_hebrew_zain), UInt32(GDK_KEY_z))
            let cases: [(keyval: UInt32, modifiers: Modifiers, layouts: [UInt32], expected: UInt32)] = [
                (ya, .control, [ya, z], z), (ya, .alt, [ya, z], z), (ya, .super, [zain, z, ya], z),
                (UInt32(GDK_KEY_Cyrillic_YA), [.control, .shift], [ya, z], UInt32(GDK_KEY_Z)),
                (zain, .control, [zain, UInt32(GDK_KEY_semicolon), z], z),
                // What is typed stays.
                (ya, [], [ya, z], ya), (ya, .shift, [ya, z], ya),
                // No layout has a letter.
                (ya, .control, [ya, UInt32(GDK_KEY_semicolon)], ya), (ya, .control, [], ya),
            ]
            for (keyval, modifiers, layouts, expected) in cases {
                XCTAssertEqual(KeyPress.shortcutSymbol(keyval, modifiers, in: { layouts }), expected)
            }
        }
    }

    func testShortcutsOfLatinLayoutsStay() {
        onMain {
            let keys = [
                GDK_KEY_a, GDK_KEY_Z, GDK_KEY_odiaeresis, GDK_KEY_eacute, GDK_KEY_lstroke, GDK_KEY_ohornacute,
                GDK_KEY_1, GDK_KEY_period, GDK_KEY_EuroSign, GDK_KEY_Return, GDK_KEY_Left, GDK_KEY_F1, GDK_KEY_KP_1,
            ]
            for key in keys {
                let keyval = UInt32(key)
                let symbol = KeyPress.shortcutSymbol(keyval, .control, in: { [UInt32(GDK_KEY_q)] })
                XCTAssertEqual(symbol, keyval, KeyValue.name(keyval) ?? "")
            }
        }
    }
}
