import CGtk

/// A dialog that asks or informs, with buttons for the responses.
public final class MessageDialog: Dialog {
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

    public convenience init(heading: String, body: String = "") {
        self.init(sinking: shim_alert_new(heading, body))
    }

    public func addResponse(_ id: String, _ label: String, _ appearance: Appearance = .normal) {
        shim_alert_add_response(pointer, id, label)
        if appearance != .normal { shim_alert_set_appearance(pointer, id, appearance.gtk) }
        Self.nameButtons(in: self)
    }

    /// GTK 4.8 includes the mnemonic underscore in the accessible names of buttons and reads the label twice.
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
        if let defaultResponse { shim_alert_set_default(pointer, defaultResponse) }
        shim_alert_set_close(pointer, closeResponse)
    }

    public func setResponse(_ id: String, isEnabled: Bool) {
        shim_alert_set_enabled(pointer, id, isEnabled ? 1 : 0)
    }

    /// Sets the widget below the body.
    public func setExtraChild(_ child: Widget) { shim_alert_set_extra(pointer, child.pointer) }

    /// Activates a response, as its button does.
    public func respond(_ id: String) { shim_alert_respond(pointer, id) }

    /// Calls `handler` when the user chooses the response `id`.
    public func onResponse(_ id: String, _ handler: @escaping @MainActor () -> Void) {
        connect("response::\(id)") { _ in handler() }
    }

    /// Calls `handler` after any response.
    public func onResponse(_ handler: @escaping @MainActor () -> Void) { connect("response") { _ in handler() } }
}
