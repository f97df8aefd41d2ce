import CGtk

/// The desktop's settings.
public enum DesktopSettings {
    /// The longest time between the clicks of a double click, in milliseconds.
    public static var doubleClickTime: Int { integer("gtk-double-click-time") ?? 400 }
    /// The greatest distance between the clicks of a double click, in pixels.
    public static var doubleClickDistance: Int { integer("gtk-double-click-distance") ?? 5 }

    /// Whether the middle button pastes the primary selection.
    public static var middleButtonPastes: Bool {
        gtk_settings_get_default().map {
            Object(borrowing: UnsafeMutableRawPointer($0)).isOn("gtk-enable-primary-paste")
        } ?? true
    }

    private static func integer(_ name: String) -> Int? {
        gtk_settings_get_default().map { Object(borrowing: UnsafeMutableRawPointer($0)).integer(name) }
    }
}

/// The color scheme, and whether high contrast is on.
public enum StyleManager {
    public enum ColorScheme: Sendable {
        case desktop, light, dark
    }

    public static func setColorScheme(_ scheme: ColorScheme) {
        let manager = adw_style_manager_get_default()
        switch scheme {
        case .desktop: adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_DEFAULT)
        case .light: adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_FORCE_LIGHT)
        case .dark: adw_style_manager_set_color_scheme(manager, ADW_COLOR_SCHEME_FORCE_DARK)
        }
    }

    public static var isHighContrast: Bool {
        adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0
    }
}

/// Opens URIs and files in other applications.
public enum URILauncher {
    /// Opens an address in the application for its scheme, with an error message over the window if there is none.
    public static func show(_ uri: String, over window: Widget?) {
        if let window {
            window.withRawPointer { shim_show_uri($0, uri) }
        } else {
            shim_show_uri(nil, uri)
        }
    }

    /// Opens an address in its default application.
    /// - Parameter onFailure: Called if no application opens it, unless the user has canceled in the desktop's dialog.
    public static func launch(_ uri: String, onFailure: @escaping @MainActor () -> Void = {}) {
        AsyncCall.start {
            g_app_info_launch_default_for_uri_async(uri, nil, nil, $0, $1)
        } _: { _, result in
            var error: UnsafeMutablePointer<GError>?
            guard g_app_info_launch_default_for_uri_finish(result, &error) == 0 else { return }
            defer { g_clear_error(&error) }
            let isCanceled = g_error_matches(error, g_io_error_quark(), gint(G_IO_ERROR_CANCELLED.rawValue)) != 0
            if !isCanceled { onFailure() }
        }
    }
}

/// Internationalized host names.
public nonisolated enum HostName {
    /// Returns the ASCII form of an internationalized name, or `nil` if it has none.
    public static func ascii(_ name: String) -> String? {
        guard let ascii = g_hostname_to_ascii(name) else { return nil }
        defer { g_free(ascii) }
        return String(cString: ascii)
    }
}

/// A clock that never goes backward.
public nonisolated enum MonotonicClock {
    public static var microseconds: Int64 { Int64(g_get_monotonic_time()) }
}

/// GLib's log, which goes to standard error.
public nonisolated enum Log {
    public static func warn(_ message: String) { shim_warning(message) }
}
