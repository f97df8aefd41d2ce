import CGtk

/// A dialog that asks or informs, with buttons for the responses.
public final class MessageDialog: TopLevel {
    public enum Appearance: Sendable {
        case normal, suggested, destructive

        fileprivate var gtk: AdwResponseAppearance {
            switch self {
            case .normal: ADW_RESPONSE_DEFAULT
            case .suggested: ADW_RESPONSE_SUGGESTED
            case .destructive: ADW_RESPONSE_DESTRUCTIVE
            }
        }
    }

    /// - Parameter parent: A widget in the window that the dialog is shown over.
    public convenience init(over parent: Widget?, heading: String, body: String = "") {
        let window = parent?.window
        self.init(sinking: adw_message_dialog_new(window?.cast(), heading, body))
    }

    public func addResponse(_ id: String, _ label: String, _ appearance: Appearance = .normal) {
        adw_message_dialog_add_response(cast(), id, label)
        if appearance != .normal { adw_message_dialog_set_response_appearance(cast(), id, appearance.gtk) }
        nameResponses()
    }

    /// Fixes the accessible names of the buttons, after responses were added by a `.ui` file: GTK 4.8 includes the
    /// mnemonic underscore and reads the label twice.
    public func nameResponses() { Self.nameButtons(in: self) }

    private static func nameButtons(in widget: Widget) {
        for child in widget.children {
            if child.isInstance(of: gtk_button_get_type()), gtk_button_get_use_underline(child.cast()) != 0 {
                // Without the property, the name comes from the child label.
                gtk_accessible_reset_property(child.cast(), GTK_ACCESSIBLE_PROPERTY_LABEL)
            } else {
                nameButtons(in: child)
            }
        }
    }

    /// Sets the responses to Return, and to Escape and closing.
    public func setResponses(default defaultResponse: String?, close closeResponse: String) {
        if let defaultResponse { adw_message_dialog_set_default_response(cast(), defaultResponse) }
        adw_message_dialog_set_close_response(cast(), closeResponse)
    }

    public func setResponse(_ id: String, isEnabled: Bool) {
        adw_message_dialog_set_response_enabled(cast(), id, isEnabled ? 1 : 0)
    }

    /// Sets the widget below the body.
    public func setExtraChild(_ child: Widget) { adw_message_dialog_set_extra_child(cast(), child.cast()) }

    /// Calls `handler` when the user chooses the response `id`.
    public func onResponse(_ id: String, _ handler: @escaping @MainActor () -> Void) {
        connect("response::\(id)") { _ in handler() }
    }

    /// Calls `handler` after any response.
    public func onResponse(_ handler: @escaping @MainActor () -> Void) { connect("response") { _ in handler() } }
}

extension WidgetProtocol {
    /// The window that contains the widget, or `nil` outside of one.
    public var window: TopLevel? {
        guard let root, root.isInstance(of: gtk_window_get_type()) else { return nil }
        return TopLevel(borrowing: root.pointer)
    }
}

extension TopLevel {
    /// Keeps the window over the one that contains `widget`.
    public func setTransient(for widget: Widget) {
        let parent = widget.window
        gtk_window_set_transient_for(cast(), parent?.cast())
    }

    /// Keeps the application running while the window exists.
    public func setApplication(_ application: Application) { gtk_window_set_application(cast(), application.cast()) }

    /// Closes the window on Escape.
    public func closeOnEscape() {
        let keys = ShortcutController()
        gtk_shortcut_controller_add_shortcut(
            keys.cast(),
            gtk_shortcut_new(
                gtk_keyval_trigger_new(guint(GDK_KEY_Escape), GdkModifierType(rawValue: 0)),
                gtk_named_action_new("window.close")))
        addController(keys)
    }
}

private final class ShortcutController: EventController {
    convenience init() {
        self.init(owning: UnsafeMutableRawPointer(gtk_shortcut_controller_new()))
    }
}

/// The About window.
public final class AboutWindow: TopLevel {
    public convenience init(name: String, version: String, icon: String, developer: String, comments: String) {
        self.init(sinking: adw_about_window_new())
        adw_about_window_set_application_name(cast(), name)
        adw_about_window_set_application_icon(cast(), icon)
        adw_about_window_set_developer_name(cast(), developer)
        adw_about_window_set_version(cast(), version)
        adw_about_window_set_comments(cast(), comments)
    }

    public enum License: Sendable {
        case apache2, bsd3, mit

        fileprivate var gtk: GtkLicense {
            switch self {
            case .apache2: GTK_LICENSE_APACHE_2_0
            case .bsd3: GTK_LICENSE_BSD_3
            case .mit: GTK_LICENSE_MIT_X11
            }
        }
    }

    public func setLinks(website: String, issues: String) {
        adw_about_window_set_website(cast(), website)
        adw_about_window_set_issue_url(cast(), issues)
    }

    public func setCopyright(_ text: String) { adw_about_window_set_copyright(cast(), text) }

    /// - Parameter notes: In the markup of AppStream: paragraphs and lists.
    public func setReleaseNotes(_ notes: String, version: String) {
        adw_about_window_set_release_notes_version(cast(), version)
        adw_about_window_set_release_notes(cast(), notes)
    }

    /// - Parameter names: One on each line.
    public func setTranslators(_ names: String) { adw_about_window_set_translator_credits(cast(), names) }

    public func setLicense(_ license: License) { adw_about_window_set_license_type(cast(), license.gtk) }

    /// What the user is asked to send with a report; not translated.
    public func setDebugInfo(_ text: String) { adw_about_window_set_debug_info(cast(), text) }

    /// Adds the license of a library that the program contains.
    public func addLegalSection(_ title: String, copyright: String, _ license: License) {
        adw_about_window_add_legal_section(cast(), title, copyright, license.gtk, nil)
    }
}
