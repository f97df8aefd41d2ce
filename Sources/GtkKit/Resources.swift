import CGtk
import Glibc

/// GResource bundles: user interface files, style sheets and icons.
public enum Resources {
    public struct LoadError: Error {
        public let message: String
    }

    /// Registers the GResource bundle at the path for all lookups by resource path.
    public static func register(path: String) throws(LoadError) {
        var error: UnsafeMutablePointer<GError>?
        guard let resource = g_resource_load(path, &error) else {
            throw LoadError(message: consumeErrorMessage(&error))
        }
        g_resources_register(resource)
        g_resource_unref(resource)
    }

    /// Returns the text of a file in a registered bundle, or `nil` if there is none. Thread-safe.
    public nonisolated static func text(_ resourcePath: String) -> String? {
        guard let bytes = g_resources_lookup_data(resourcePath, GResourceLookupFlags(rawValue: 0), nil) else {
            return nil
        }
        defer { g_bytes_unref(bytes) }
        var size: gsize = 0
        guard let data = g_bytes_get_data(bytes, &size) else { return "" }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: Int(size)), as: UTF8.self)
    }

    public static func exists(_ resourcePath: String) -> Bool {
        g_resources_get_info(resourcePath, GResourceLookupFlags(rawValue: 0), nil, nil, nil) != 0
    }
}

/// The GResource bundle of a target, a resource of its module.
public struct ResourceBundle {
    public struct Missing: Error {
        public let message: String
    }

    private let name: String
    private let content: String
    private let builtPath: () -> String?

    /// - Parameters:
    ///   - name: The file's name without its extension.
    ///   - content: A file in the bundle, by which it is known to be registered.
    ///   - builtPath: Returns the bundle's path in the build folder.
    public init(_ name: String, content: String, builtPath: @escaping () -> String?) {
        self.name = name
        self.content = content
        self.builtPath = builtPath
    }

    /// Registers the bundle, once.
    /// - Parameter folders: Where to search before the build folder.
    /// - Throws: ``Missing`` with the searched paths.
    public func load(installed folders: [String]) throws(Missing) {
        guard !Resources.exists(content) else { return }
        var paths = folders.map { "\($0)/\(name).gresource" }
        // Only as a fallback: `Bundle.module` traps if the build folder no longer exists.
        if !paths.contains(where: Self.fileExists) { paths.append(builtPath() ?? "") }
        for path in paths where Self.fileExists(path) {
            do {
                try Resources.register(path: path)
                return
            } catch {
                throw Missing(message: error.message)
            }
        }
        throw Missing(message: "\(name).gresource is in none of: \(paths.joined(separator: ", "))")
    }

    // Not `g_file_test`: newer GLib defines its flags in a way that Swift can't import.
    private static func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

/// CSS for all windows on the default display.
public enum StyleSheet {
    /// Replaces the style rules that are generated at run time.
    public static func setOverrides(_ css: String) {
        guard let display = gdk_display_get_default() else { return }
        if overrides == nil, let provider = gtk_css_provider_new() {
            overrides = Object(owning: UnsafeMutableRawPointer(provider))
            gtk_style_context_add_provider_for_display(
                display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION) + 1)
        }
        guard let overrides else { return }
        shim_load_css(overrides.pointer, css)
    }

    private static var overrides: Object?

    /// Applies a style sheet whenever the desktop requests high contrast. Idempotent.
    public static func loadForHighContrast(resource: String) {
        adw_init()
        guard loaded.insert(resource).inserted, let manager = adw_style_manager_get_default(),
            let provider = gtk_css_provider_new()
        else { return }
        let sheet = Object(owning: UnsafeMutableRawPointer(provider))
        gtk_css_provider_load_from_resource(provider, resource)
        applyIfHighContrast(sheet)
        let style = Object(borrowing: UnsafeMutableRawPointer(manager))
        style.connect("notify::high-contrast") { _ in applyIfHighContrast(sheet) }
    }

    private static func applyIfHighContrast(_ sheet: Object) {
        guard let display = gdk_display_get_default() else { return }
        if adw_style_manager_get_high_contrast(adw_style_manager_get_default()) != 0 {
            gtk_style_context_add_provider_for_display(
                display, sheet.cast(), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION) + 1)
        } else {
            gtk_style_context_remove_provider_for_display(display, sheet.cast())
        }
    }

    /// The resource paths of the style sheets that were loaded.
    private static var loaded: Set<String> = []

    /// Applies a style sheet. Idempotent.
    public static func load(resource: String) {
        guard let display = gdk_display_get_default(), loaded.insert(resource).inserted,
            let provider = gtk_css_provider_new()
        else { return }
        gtk_css_provider_load_from_resource(provider, resource)
        gtk_style_context_add_provider_for_display(
            display, OpaquePointer(provider), guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
        g_object_unref(UnsafeMutableRawPointer(provider))
    }
}
