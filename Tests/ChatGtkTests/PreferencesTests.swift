import CGtk
import ChatCore
import ComposerSessions
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
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
            let rows = Dictionary(
                Self.comboRows().map { (Self.title(of: $0) ?? "", $0) }, uniquingKeysWith: { first, _ in first })
            let loading = ["always", "small", "never"]
            let choices = [
                ("Style", "color-scheme", ["follow", "light", "dark"]),
                ("Show in Notifications", "notification-text", ["sender-and-text", "sender", "nothing"]),
                ("Send Messages With", "send-key", ["return", "ctrl-return"]),
                ("Images", "automatic-images", loading), ("Animated Images", "automatic-animations", loading),
                ("Videos", "automatic-videos", loading), ("Audio", "automatic-audio", loading),
                ("Other Files", "automatic-files", loading),
                ("Read Receipts", "read-receipts", ["public", "private"]),
            ]
            XCTAssertEqual(Set(rows.keys), Set(choices.map(\.0)).union(["Emoji Skin Tone"]))
            for (title, key, values) in choices {
                let row = try XCTUnwrap(rows[title])
                for (index, value) in values.enumerated().reversed() {
                    adw_combo_row_set_selected(row.cast(), guint(index))
                    XCTAssertEqual(settings.string(key), value)
                }
            }
            let tones = try XCTUnwrap(rows["Emoji Skin Tone"])
            for tone in [5, 0] {
                adw_combo_row_set_selected(tones.cast(), guint(tone))
                XCTAssertEqual(settings.int("emoji-skin-tone"), tone)
            }
            OpenDialogs.closeAll()
        }
    }

    func testChoicesOfEncryptionAreStored() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            PreferencesDialog.present(settings: settings, over: nil, showing: .privacy)
            let dialog = try XCTUnwrap(OpenDialogs.all.first)
            for (title, key) in [
                ("Encrypt New Direct Chats", "encrypt-direct-chats"),
                ("Reactions in Encrypted Rooms", "reactions-in-encrypted-rooms"),
            ] {
                let row = try XCTUnwrap(
                    dialog.descendants.first {
                        $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.first == title
                    }, title)
                let control = try XCTUnwrap(row.descendants.first { $0.isInstance(of: gtk_switch_get_type()) })
                XCTAssertTrue(settings.bool(key), "on by default")
                for value in [false, true] {
                    gtk_switch_set_active(control.cast(), value ? 1 : 0)
                    XCTAssertEqual(settings.bool(key), value)
                }
            }
            OpenDialogs.closeAll()
        }
    }

    func testMediaThatLoadWithoutAskingAreStoredAsTheyAreRead() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            let read = {
                MediaPreferences(
                    choice: { settings.string($0) }, megabytes: settings.int("automatic-size"),
                    playsAnimations: settings.bool("play-animations"))
            }
            let automatic = MediaPreferences.Kind.allCases.filter { read().choices[$0] != .never }
            XCTAssertEqual(automatic, [.images, .animations])
            XCTAssertEqual(read().smallBytes, MediaPreferences().smallBytes)
            PreferencesDialog.present(settings: settings, over: nil, showing: .messages)
            let rows = Self.comboRows().filter(\.isMapped)
            XCTAssertEqual(rows.map { Self.title(of: $0) }.suffix(5).first, "Images")
            let videos = try XCTUnwrap(rows.first { Self.title(of: $0) == "Videos" })
            adw_combo_row_set_selected(videos.cast(), 1)
            let spin = try XCTUnwrap(
                Self.toplevels().flatMap { Self.descendants(of: $0) }.first {
                    shim_is_a($0.pointer, gtk_spin_button_get_type()) != 0 && $0.isMapped
                        && gtk_spin_button_get_value_as_int($0.cast()) == 5
                })
            gtk_spin_button_set_value(spin.cast(), 12)
            XCTAssertTrue(MainLoop.pump { read().smallBytes == 12_000_000 })
            XCTAssertEqual(read().choices[.videos], .small)
            settings.set("automatic-videos", "never")
            settings.set("automatic-size", 5)
            OpenDialogs.closeAll()
        }
    }

    func testKeywordsOfAnAccountAreAddedAndRemoved() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            let service = KeywordService()
            let viewModel = AccountPreferencesViewModel(account: "@ann:example.org", name: "Ann", service: service)
            let group = AccountPreferencesGroup(viewModel, settings: settings)
            let window = TestWindow(group.widget, width: 360, height: 400)
            XCTAssertFalse(group.entry.isSensitive, "nothing is changed that is not known")
            service.publish(["tea"])
            XCTAssertTrue(MainLoop.pump { Self.titles(in: group.widget).contains("tea") })
            try RealInput.activate(window.window)
            group.entry.grabFocus()
            try RealInput.type("  coffee ")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { Self.titles(in: group.widget).contains("coffee") })
            XCTAssertEqual(group.entry.text, "")
            service.fails = true
            viewModel.send(.removeKeyword("tea"))
            XCTAssertTrue(MainLoop.pump { viewModel.state.error != nil })
            try finish { for _ in 0..<10 { await Task.yield() } }
            XCTAssertEqual(group.entry.text, "", "coffee was added")
            service.fails = false
            viewModel.send(.removeKeyword("water"))
            XCTAssertNil(viewModel.state.error)
            try finish { for _ in 0..<10 { await Task.yield() } }
            service.fails = true
            group.entry.grabFocus()
            try RealInput.type("milk")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { viewModel.state.error != nil && group.entry.text == "milk" })
            service.fails = false
            viewModel.send(.removeKeyword("tea"))
            XCTAssertTrue(MainLoop.pump { !Self.titles(in: group.widget).contains("tea") })
            let toggle = try XCTUnwrap(
                Self.descendants(of: group.widget).first { shim_is_a($0.pointer, gtk_switch_get_type()) != 0 })
            gtk_switch_set_active(toggle.cast(), 1)
            XCTAssertEqual(settings.strings("private-accounts"), ["@ann:example.org"])
            gtk_switch_set_active(toggle.cast(), 0)
            XCTAssertEqual(settings.strings("private-accounts"), [])
            window.close()
        }
    }

    @MainActor
    private static func titles(in widget: Widget) -> [String] {
        descendants(of: widget).filter { shim_is_a($0.pointer, adw_action_row_get_type()) != 0 }.compactMap {
            title(of: $0)
        }
    }

    func testNarrowPreferencesListTheirPagesByWholeNames() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            PreferencesDialog.present(settings: settings, over: nil)
            let window = try XCTUnwrap(
                Self.toplevels().first { TopLevel(borrowing: $0.pointer).title == "Preferences" })
            gtk_window_set_default_size(window.cast(), 360, 560)
            let labels = {
                Self.descendants(of: window).compactMap { $0.wrapped(as: Label.self, gtk_label_get_type()) }
                    .filter(\.isMapped)
            }
            let pages = ["General", "Notifications", "Composer", "Messages", "Privacy", "Encryption", "Accounts"]
            XCTAssertTrue(MainLoop.pump { window.width == 360 && labels().map(\.text) == ["Preferences"] + pages })
            for label in labels() {
                XCTAssertEqual(pango_layout_is_ellipsized(gtk_label_get_layout(label.cast())), 0, label.text)
            }
            for label in labels() where pages.contains(label.text) {
                XCTAssertGreaterThan(label.width, 200, "a longer \(label.text) has the room of the row")
            }
            try RealInput.activate(window)
            try RealInput.press("Down", "Return")
            XCTAssertTrue(MainLoop.pump { labels().contains { $0.text == "Pause Notifications" } })
            XCTAssertTrue(MainLoop.pump { !labels().contains { $0.text == "Privacy" } })
            try RealInput.press("alt+Left")
            XCTAssertTrue(MainLoop.pump { labels().contains { $0.text == "Privacy" } }, "Alt+Left goes back")
            gtk_window_set_default_size(window.cast(), 760, 560)
            XCTAssertTrue(
                MainLoop.pump {
                    let texts = labels().map(\.text)
                    return texts.contains("Privacy") && texts.contains("Pause Notifications")
                }, "side by side")
            try RealInput.press("Down")
            XCTAssertTrue(
                MainLoop.pump { labels().contains { $0.text == "Send Messages With" } }, "the arrow keys show")
            OpenDialogs.closeAll()
        }
    }

    /// PAR-4: the row reports which dictionaries are installed.
    func testSpellingRowReportsDictionaries() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            XCTAssertTrue(settings.bool("check-spelling") && settings.strings("spelling-languages").isEmpty)
            let spelling = SpellingPreferencesViewModel(
                checker: FixedDictionaries(installed: ["ar", "en_US"]), locales: ["fr"], chosen: []
            ) { settings.set("spelling-languages", $0) }
            PreferencesDialog.present(settings: settings, over: nil, showing: .composer, spelling: spelling)
            let row = try XCTUnwrap(
                Self.toplevels().flatMap { Self.descendants(of: $0) }.first {
                    shim_is_a($0.pointer, adw_action_row_get_type()) != 0 && Self.title(of: $0) == "Check Spelling"
                })
            XCTAssertTrue(
                MainLoop.pump {
                    adw_action_row_get_subtitle(row.cast()).map { String(cString: $0) }
                        == "No dictionary is installed for Français"
                })
            XCTAssertTrue(MainLoop.pump { row.isMapped })
            row.withPointer { _ = gtk_widget_activate($0) }
            XCTAssertTrue(MainLoop.pump { !settings.bool("check-spelling") })
            settings.set("check-spelling", true)
            // Each language has a row with a switch.
            @MainActor func control(_ title: String) -> Widget? {
                Self.toplevels().flatMap { Self.descendants(of: $0) }.first {
                    shim_is_a($0.pointer, adw_action_row_get_type()) != 0 && Self.title(of: $0) == title
                }.flatMap { row in
                    Self.descendants(of: row).first { shim_is_a($0.pointer, gtk_switch_get_type()) != 0 }
                }
            }
            for (title, languages) in [
                ("العربية", ["ar"]), ("English (US)", ["ar", "en_US"]), ("Use System Languages", []),
            ] as [(String, [String])] {
                let toggle = try XCTUnwrap(control(title), title)
                XCTAssertTrue(MainLoop.pump { gtk_widget_is_sensitive(toggle.cast()) != 0 }, title)
                toggle.withPointer { _ = gtk_widget_activate($0) }
                XCTAssertTrue(MainLoop.pump { settings.strings("spelling-languages") == languages }, title)
            }
            settings.set("spelling-languages", [] as [String])
            OpenDialogs.closeAll()
        }
    }

    /// PAR-4: a language is in use as long as its switch says so.
    func testOnlyLanguageOfTheSystemStaysOn() throws {
        try onMain {
            var stored: [[String]] = []
            let spelling = SpellingPreferencesViewModel(
                checker: FixedDictionaries(installed: ["ar", "en_US"]), locales: ["ar"], chosen: []
            ) { stored.append($0) }
            let summary = ActionRow("Check Spelling")
            let group = SpellingLanguagesGroup(spelling, summary: summary)
            let window = TestWindow(group.widget, width: 360, height: 400)
            @MainActor func control(_ title: String) -> Widget? {
                Self.descendants(of: group.widget).first {
                    shim_is_a($0.pointer, adw_action_row_get_type()) != 0 && Self.title(of: $0) == title
                }.flatMap { row in
                    Self.descendants(of: row).first { shim_is_a($0.pointer, gtk_switch_get_type()) != 0 }
                }
            }
            XCTAssertTrue(MainLoop.pump { control("العربية") != nil })
            let toggle = try XCTUnwrap(control("العربية"))
            XCTAssertNotEqual(gtk_switch_get_active(toggle.cast()), 0)
            gtk_switch_set_active(toggle.cast(), 0)
            XCTAssertTrue(MainLoop.pump { gtk_switch_get_active(toggle.cast()) != 0 })
            XCTAssertEqual(stored, [])
            let other = try XCTUnwrap(control("English (US)"))
            gtk_switch_set_active(other.cast(), 1)
            gtk_switch_set_active(toggle.cast(), 0)
            XCTAssertTrue(MainLoop.pump { stored == [["ar", "en_US"], ["en_US"]] })
            XCTAssertEqual(gtk_switch_get_active(toggle.cast()), 0)
            window.close()
        }
    }

    /// The program itself allows it when it is to start at login.
    func testRunningInTheBackgroundFollowsItsSetting() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            let key = "run-in-background"
            settings.set(key, "ask")
            PreferencesDialog.present(settings: settings, over: nil, showing: .general)
            let dialog = try XCTUnwrap(OpenDialogs.all.first)
            let row = try XCTUnwrap(
                dialog.descendants.first {
                    $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.first == "Run in Background"
                })
            let control = try XCTUnwrap(row.descendants.first { $0.isInstance(of: gtk_switch_get_type()) })
            XCTAssertEqual(gtk_switch_get_active(control.cast()), 0)
            settings.set(key, "yes")
            XCTAssertTrue(MainLoop.pump { gtk_switch_get_active(control.cast()) != 0 })
            gtk_switch_set_active(control.cast(), 0)
            XCTAssertEqual(settings.string(key), "no")
            settings.set(key, "yes")
            XCTAssertTrue(MainLoop.pump { gtk_switch_get_active(control.cast()) != 0 })
            settings.set(key, "ask")
            XCTAssertTrue(MainLoop.pump { gtk_switch_get_active(control.cast()) == 0 })
            XCTAssertEqual(settings.string(key), "ask", "showing it answers nothing")
            OpenDialogs.closeAll()
        }
    }

    func testPreferencesSayThatThereAreNoDictionaries() throws {
        try onMain {
            try Resource.load()
            guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                return XCTFail("no settings schema: make schemas")
            }
            let spelling = SpellingPreferencesViewModel(
                checker: FixedDictionaries(installed: []), locales: ["fr"], chosen: []
            ) { _ in }
            PreferencesDialog.present(settings: settings, over: nil, showing: .composer, spelling: spelling)
            XCTAssertTrue(
                MainLoop.pump {
                    Self.toplevels().flatMap { Self.descendants(of: $0) }
                        .compactMap { $0.wrapped(as: Label.self, gtk_label_get_type()) }
                        .contains { $0.isMapped && $0.text == "No dictionaries are installed." }
                })
            OpenDialogs.closeAll()
        }
    }

    private struct FixedDictionaries: SpellChecker {
        let installed: [String]
        func languages() -> [String] { installed }
        func misspelled(_ words: [String], in languages: [String]) -> Set<String> { [] }
        func suggestions(for word: String, in languages: [String]) -> [String] { [] }
        func add(_ word: String, to language: String) {}
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
    private static func descendants(of widget: Widget) -> [Widget] {
        widget.children.flatMap { [$0] + descendants(of: $0) }
    }
}
