import CGtk
import ComposerGtk
public import GtkKit

/// The preferences window.
public enum PreferencesDialog {
    /// The GSettings values in the order of the combo row's items.
    private static let schemes = ["follow", "light", "dark"]
    private static let sendKeys = ["return", "ctrl-return"]

    public static func present(settings: Settings, over parent: Widget?) {
        let builder = Builder(resource: Resource.ui("preferences"))
        let window: Widget = builder["window"]
        if let parent { gtk_window_set_transient_for(window.cast(), parent.cast()) }
        bind(builder["scheme"], to: "color-scheme", of: settings, schemes)
        bind(builder["send_key"], to: "send-key", of: settings, sendKeys)
        for (row, key) in [
            ("style_markdown", "style-markdown"), ("formatting_toolbar", "formatting-toolbar"),
            ("shake_to_clear", "shake-to-clear"), ("suggest_people", "suggest-people"),
            ("character_counter", "character-counter"),
            ("link_previews", "link-previews"),
        ] {
            settings.bind(key, to: builder[row, Widget.self], "active", bothWays: true)
        }
        gtk_window_present(window.cast())
    }

    private static func bind(_ row: Widget, to key: String, of settings: Settings, _ values: [String]) {
        adw_combo_row_set_selected(row.cast(), guint(values.firstIndex(of: settings.string(key)) ?? 0))
        row.connect("notify::selected") { arguments in
            guard let row = arguments.emitter else { return }
            let index = Int(adw_combo_row_get_selected(row.assumingMemoryBound(to: AdwComboRow.self)))
            if values.indices.contains(index) { settings.set(key, values[index]) }
        }
    }
}

/// The color scheme: light, dark or the desktop's.
public enum Appearance {
    /// - Parameter scheme: `follow`, `light` or `dark`.
    public static func apply(_ scheme: String) {
        let manager = adw_style_manager_get_default()
        switch scheme {
        case "light": adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_FORCE_LIGHT)
        case "dark": adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_FORCE_DARK)
        default: adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_DEFAULT)
        }
    }
}

public enum AboutDialog {
    public static func present(version: String, over parent: Widget?) {
        let window = Widget(sinking: adw_about_window_new())
        if let parent { gtk_window_set_transient_for(window.cast(), parent.cast()) }
        window.setProperty("application-name", "Parlance")
        window.setProperty("application-icon", "io.github.parlance_chat.Parlance")
        window.setProperty("developer-name", translated("The Parlance contributors"))
        window.setProperty("version", version)
        window.setProperty("comments", translated("Chat with the best composer on any desktop."))
        adw_about_window_set_license_type(window.cast(), GTK_LICENSE_APACHE_2_0)
        // MD4C is linked statically.
        adw_about_window_add_legal_section(
            window.cast(), "MD4C", "Copyright © 2016–2024 Martin Mitáš", GTK_LICENSE_MIT_X11, nil)
        gtk_window_present(window.cast())
    }

}
