import ChatCore
public import ChatViewModels
import ComposerGtk
public import GtkKit

/// The preferences.
public enum PreferencesDialog {
    /// The pages, as `preferences.ui` names them.
    public enum Page: String, CaseIterable {
        case general, notifications, composer, messages, privacy, encryption, accounts
    }

    /// The GSettings values in the order of the combo row's items.
    private static let schemes = ["follow", "light", "dark"]
    private static let sendKeys = ["return", "ctrl-return"]
    private static let receipts = ["public", "private"]
    private static let notificationTexts = ["sender-and-text", "sender", "nothing"]
    private static let automaticMedia = MediaPreferences.Choice.allCases.map(\.rawValue)

    /// - Parameters:
    ///   - accounts: the accounts' own preferences.
    ///   - encryption: the encryption preferences of the accounts that support it.
    ///   - page: the initial page; `nil` for the list of pages.
    ///   - spelling: the spelling languages; `nil` if they cannot be chosen.
    public static func present(
        settings: Settings, accounts: [AccountPreferencesViewModel] = [],
        encryption: [EncryptionPreferencesViewModel] = [], over parent: Widget?,
        showing page: Page? = nil, spelling: SpellingPreferencesViewModel? = nil
    ) {
        let builder = Builder(resource: Resource.ui("preferences"))
        let dialog = Dialog(builder)
        bindChoices(builder, settings)
        for key in [
            "style-markdown", "formatting-toolbar", "shake-to-clear", "suggest-people", "character-counter",
            "check-spelling", "link-previews", "send-typing", "notifications-paused", "notification-sound",
            "start-at-login", "play-animations", "encrypt-direct-chats", "reactions-in-encrypted-rooms",
        ] {
            let control: Widget = builder[key.replacing("-", with: "_")]
            settings.bind(key, to: control, "active", bothWays: true)
        }
        settings.bind("automatic-size", to: builder["automatic_size", Widget.self], "value", bothWays: true)
        settings.bind("text-zoom", to: builder["text_zoom", Widget.self], "value", bothWays: true)
        bindBackground(builder["run_in_background"], settings, in: dialog)
        if let spelling {
            let group = SpellingLanguagesGroup(spelling, summary: builder["spelling_row"])
            builder["composer_page", PreferencesPage.self].add(group.widget)
            settings.bind("check-spelling", to: group.widget, "sensitive")
            dialog.retain([group])
        }
        let groups = accounts.map { AccountPreferencesGroup($0, settings: settings) }
        show(groups, in: builder)
        let encryptionGroups = encryption.map { EncryptionPreferencesGroups($0) }
        show(encryptionGroups, in: builder)
        let pages = PreferencesPages(builder, in: dialog, names: Page.allCases.map(\.rawValue))
        pages.start(with: page?.rawValue)
        dialog.retain(groups + encryptionGroups + [pages])
        dialog.present(over: parent)
    }

    private static func bindChoices(_ builder: Builder, _ settings: Settings) {
        bind(builder["scheme"], to: "color-scheme", of: settings, schemes)
        bind(builder["send_key"], to: "send-key", of: settings, sendKeys)
        bind(builder["read_receipts"], to: "read-receipts", of: settings, receipts)
        bind(builder["notification_text"], to: "notification-text", of: settings, notificationTexts)
        for kind in MediaPreferences.Kind.allCases {
            let key = kind.setting
            bind(builder[key.replacing("-", with: "_")], to: key, of: settings, automaticMedia)
        }
        let tone: ComboRow = builder["skin_tone"]
        tone.selectedIndex = settings.int("emoji-skin-tone")
        tone.onSelectionChange { settings.set("emoji-skin-tone", $0) }
    }

    /// The switch has two positions but the setting a third one: not asked yet. Starting at sign-in changes it, too.
    private static func bindBackground(_ control: Switch, _ settings: Settings, in dialog: Dialog) {
        let key = "run-in-background"
        control.isActive = settings.string(key) == "yes"
        control.onChange { isOn in
            if isOn != (settings.string(key) == "yes") { settings.set(key, isOn ? "yes" : "no") }
        }
        let changed = settings.onChange(of: key) { [weak control, weak settings] in
            control?.isActive = settings?.string(key) == "yes"
        }
        dialog.retain([control])
        dialog.onClosed { withExtendedLifetime(settings) { changed.disconnect() } }
    }

    private static func show(_ groups: [AccountPreferencesGroup], in builder: Builder) {
        let page: PreferencesPage = builder["accounts_page"]
        builder["no_accounts", Widget.self].isVisible = groups.isEmpty
        for group in groups { page.add(group.widget) }
    }

    private static func show(_ accounts: [EncryptionPreferencesGroups], in builder: Builder) {
        let page: PreferencesPage = builder["encryption_page"]
        builder["no_encryption", Widget.self].isVisible = accounts.isEmpty
        for group in accounts.flatMap(\.groups) { page.add(group) }
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
