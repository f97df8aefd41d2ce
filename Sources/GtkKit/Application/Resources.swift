import CGtk
public import Foundation
import Glibc

/// GResource bundles: user interface files, style sheets and icons.
public enum Resources {
    public struct LoadError: Error {
        public let message: String
    }

    /// Registers the GResource bundle at the path for all lookups by resource path, and of its icons by name.
    public static func register(path: String) throws(LoadError) {
        var error: UnsafeMutablePointer<GError>?
        guard let resource = g_resource_load(path, &error) else {
            throw LoadError(message: consumeErrorMessage(&error))
        }
        g_resources_register(resource)
        g_resource_unref(resource)
        IconTheme.readAgain()
    }

    /// Returns the text of a file in a registered bundle, or `nil` if there is none. Thread-safe.
    public nonisolated static func text(_ resourcePath: String) -> String? {
        read(resourcePath) { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns the content of a file in a registered bundle, or `nil` if there is none. Thread-safe.
    public nonisolated static func data(_ resourcePath: String) -> Data? {
        read(resourcePath) { Data($0) }
    }

    private nonisolated static func read<T>(_ resourcePath: String, _ body: (UnsafeRawBufferPointer) -> T) -> T? {
        guard let bytes = g_resources_lookup_data(resourcePath, GResourceLookupFlags(rawValue: 0), nil) else {
            return nil
        }
        defer { g_bytes_unref(bytes) }
        var size: gsize = 0
        let data = g_bytes_get_data(bytes, &size)
        return body(UnsafeRawBufferPointer(start: data, count: Int(size)))
    }

    public static func exists(_ resourcePath: String) -> Bool {
        g_resources_get_info(resourcePath, GResourceLookupFlags(rawValue: 0), nil, nil, nil) != 0
    }
}

/// The GResource bundle of a target, either installed or in the build folder.
public struct ResourceBundle {
    public struct Missing: Error {
        public let message: String
    }

    private let name: String
    private let content: String
    private let builtPath: () -> String?

    /// - Parameters:
    ///   - name: The file's name without its extension.
    ///   - content: A file in the bundle: if it can be looked up, the bundle is already registered.
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

/// The icons by name of all windows on the default display.
///
/// Bundles have theirs in `/org/gtk/libgtk/icons`, with the layout of a theme: `scalable/actions/NAME-symbolic.svg`. An
/// icon `NAME-symbolic-rtl.svg` replaces `NAME-symbolic.svg` where text runs from right to left.
///
/// GTK looks there by itself. A folder of their own would have to be added to its theme, which GTK reads in another
/// thread as soon as it starts, and reads again on the main thread if a folder was added since.
public enum IconTheme {
    public static func contains(_ name: String) -> Bool {
        theme.map { gtk_icon_theme_has_icon($0, name) != 0 } ?? false
    }

    /// Has GTK, if it has started, read the theme again: it would miss the icons of a bundle that was registered since.
    static func readAgain() {
        guard gtk_is_initialized() != 0, let theme, let folders = gtk_icon_theme_get_resource_path(theme) else {
            return
        }
        defer { g_strfreev(folders) }
        gtk_icon_theme_set_resource_path(
            theme, UnsafeRawPointer(folders).assumingMemoryBound(to: UnsafePointer<CChar>?.self))
    }

    private static var theme: OpaquePointer? {
        gdk_display_get_default().flatMap { gtk_icon_theme_get_for_display($0) }
    }
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
