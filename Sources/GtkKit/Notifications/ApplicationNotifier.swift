import CGtk
import FoundationEssentials

/// Sends notifications through GNotification: to GNOME Shell, or, for ``PortalNotifier``, to the portal. They remain
/// after the program has ended, and activating one starts it.
public final class ApplicationNotifier: Notifier {
    private let application: Application
    /// Never called: GNotification has no inline replies.
    public var onReply: (@MainActor (_ target: String, _ text: String) -> Void)?

    public init(_ application: Application) {
        self.application = application
    }

    /// Returns the notifier for this desktop.
    public static func desktop(_ application: Application) -> any Notifier {
        if FileManager.default.fileExists(atPath: "/.flatpak-info") { return PortalNotifier(application) }
        return DesktopNotifier(application)
    }

    public func send(_ notification: DesktopNotification, as id: String) {
        let object = Object(owning: UnsafeMutableRawPointer(g_notification_new(notification.title)))
        g_notification_set_body(object.cast(), notification.body)
        if let data = notification.icon {
            let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
            defer { g_bytes_unref(bytes) }
            let icon = Object(owning: UnsafeMutableRawPointer(g_bytes_icon_new(bytes)))
            g_notification_set_icon(object.cast(), icon.cast())
        }
        if let category = notification.category { g_notification_set_category(object.cast(), category) }
        g_notification_set_priority(
            object.cast(),
            notification.isImportant ? G_NOTIFICATION_PRIORITY_HIGH : G_NOTIFICATION_PRIORITY_NORMAL)
        let action = notification.defaultAction
        g_notification_set_default_action_and_target_value(
            object.cast(), "app.\(action.name)", g_variant_new_string(action.target))
        for button in notification.buttons {
            g_notification_add_button_with_target_value(
                object.cast(), button.label, "app.\(button.action.name)", g_variant_new_string(button.action.target))
        }
        g_application_send_notification(application.cast(), id, object.cast())
        if notification.playsSound { AlertSound.play(of: application) }
    }

    public func withdraw(_ id: String) { g_application_withdraw_notification(application.cast(), id) }
}

/// The desktop's alert sound, which the user chooses or turns off in the desktop's settings.
enum AlertSound {
    static func play(of application: Application) {
        // The sound belongs to the display. Without a display, the notification is silent.
        if application.startToolkit(), let display = gdk_display_get_default() { gdk_display_beep(display) }
    }
}
