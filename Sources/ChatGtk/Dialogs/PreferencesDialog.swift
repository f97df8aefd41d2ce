import ComposerGtk
public import GtkKit

/// The preferences window.
public enum PreferencesDialog {
    /// The GSettings values in the order of the combo row's items.
    private static let schemes = ["follow", "light", "dark"]
    private static let sendKeys = ["return", "ctrl-return"]
    private static let receipts = ["public", "private"]
    private static let notificationTexts = ["sender-and-text", "sender", "nothing"]

    /// - Parameter spelling: Returns what is to be said of the dictionaries.
    public static func present(
        settings: Settings, over parent: Widget?, spelling: (@MainActor () async -> String)? = nil
    ) {
        let builder = Builder(resource: Resource.ui("preferences"))
        let window: TopLevel = builder["window"]
        if let parent { window.setTransient(for: parent) }
        bind(builder["scheme"], to: "color-scheme", of: settings, schemes)
        bind(builder["send_key"], to: "send-key", of: settings, sendKeys)
        bind(builder["read_receipts"], to: "read-receipts", of: settings, receipts)
        bind(builder["notification_text"], to: "notification-text", of: settings, notificationTexts)
        for (row, key) in [
            ("style_markdown", "style-markdown"), ("formatting_toolbar", "formatting-toolbar"),
            ("shake_to_clear", "shake-to-clear"), ("suggest_people", "suggest-people"),
            ("character_counter", "character-counter"), ("check_spelling", "check-spelling"),
            ("link_previews", "link-previews"), ("send_typing", "send-typing"),
            ("notifications_paused", "notifications-paused"), ("notification_sound", "notification-sound"), ("start_at_login", "start-at-login"),
        ] {
            settings.bind(key, to: builder[row, Widget.self], "active", bothWays: true)
        }
        // A switch has two positions, the setting three: nobody was asked yet.
        let runs: Switch = builder["run_in_background"]
        runs.isActive = settings.string("run-in-background") == "yes"
        runs.onChange { settings.set("run-in-background", $0 ? "yes" : "no") }
        if let spelling {
            let row: ActionRow = builder["spelling_row"]
            Task { row.setSubtitle(await spelling()) }
        }
        window.present()
    }

    private static func bind(_ row: ComboRow, to key: String, of settings: Settings, _ values: [String]) {
        row.selectedIndex = values.firstIndex(of: settings.string(key)) ?? 0
        row.onSelectionChange { if values.indices.contains($0) { settings.set(key, values[$0]) } }
    }
}

/// The color scheme: light, dark or the desktop's.
public enum Appearance {
    /// - Parameter scheme: `follow`, `light` or `dark`.
    public static func apply(_ scheme: String) {
        switch scheme {
        case "light": StyleManager.setColorScheme(.light)
        case "dark": StyleManager.setColorScheme(.dark)
        default: StyleManager.setColorScheme(.desktop)
        }
    }
}
