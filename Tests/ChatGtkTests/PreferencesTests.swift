import CGtk
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

final class PreferencesTests: GtkTestCase {
    /// Selects every choice of every row, in the dialog's order.
    func testPreferencesAreStored() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            PreferencesDialog.present(settings: settings, over: nil)
            let rows = Self.comboRows()
            let choices = [
                ("color-scheme", ["follow", "light", "dark"]),
                ("notification-text", ["sender-and-text", "sender", "nothing"]), ("send-key", ["return", "ctrl-return"]),
                ("read-receipts", ["public", "private"]),
            ]
            XCTAssertEqual(rows.count, choices.count)
            for (row, (key, values)) in zip(rows, choices) {
                for (index, value) in values.enumerated().reversed() {
                    adw_combo_row_set_selected(row.cast(), guint(index))
                    XCTAssertEqual(settings.string(key), value)
                }
            }
            Self.closeAll()
        }
    }

    /// PAR-4: the row says what dictionaries there are.
    func testSpellingRowReportsDictionaries() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            XCTAssertTrue(settings.bool("check-spelling") && settings.strings("spelling-languages").isEmpty)
            PreferencesDialog.present(settings: settings, over: nil) { "No dictionary is installed for Français" }
            let row = try XCTUnwrap(
                Self.toplevels().flatMap { Self.descendants(of: $0) }.first {
                    shim_is_a($0.pointer, adw_action_row_get_type()) != 0 && Self.title(of: $0) == "Check Spelling"
                })
            XCTAssertTrue(
                MainLoop.pump {
                    adw_action_row_get_subtitle(row.cast()).map { String(cString: $0) }
                        == "No dictionary is installed for Français"
                })
            row.withPointer { _ = gtk_widget_activate($0) }
            XCTAssertTrue(MainLoop.pump { !settings.bool("check-spelling") })
            settings.set("check-spelling", true)
            Self.closeAll()
        }
    }

    @MainActor
    private static func title(of row: Widget) -> String? {
        adw_preferences_row_get_title(row.cast()).map { String(cString: $0) }
    }

    @MainActor
    private static func comboRows() -> [Widget] {
        toplevels().flatMap { descendants(of: $0) }.filter { shim_is_a($0.pointer, adw_combo_row_get_type()) != 0 }
    }

    @MainActor
    private static func toplevels() -> [Widget] {
        guard let list = gtk_window_list_toplevels() else { return [] }
        defer { g_list_free(list) }
        return (0..<g_list_length(list)).compactMap { g_list_nth_data(list, $0).map { Widget(borrowing: $0) } }
    }

    @MainActor
    private static func closeAll() {
        for window in toplevels() { gtk_window_destroy(window.cast()) }
    }

    @MainActor
    private static func descendants(of widget: Widget) -> [Widget] {
        widget.children.flatMap { [$0] + descendants(of: $0) }
    }
}
