import CGtk
public import Foundation
public import Observation
import Synchronization

/// Whether the desktop shows times with a 12-hour clock: GNOME's setting, or else the time format of the locale.
@Observable public final class ClockFormat {
    public static let desktop = ClockFormat()

    public package(set) var isTwelveHour = isTwelveHourInLocale

    @ObservationIgnored private var settings: Settings?
    /// The Settings portal, retained for its signal.
    @ObservationIgnored private var portal: Object?

    private static let schema = "org.gnome.desktop.interface"
    private static let key = "clock-format"

    private init() {
        // In a Flatpak, GSettings has values of the sandbox, not of the desktop.
        guard !Self.isSandboxed, let settings = Settings(schema: Self.schema, with: Self.key) else { return }
        self.settings = settings
        settings.onChange(of: Self.key) { [weak self] in self?.apply(settings.string(Self.key)) }
        // Other desktops have the schema too, because GTK needs it; there, its default is not a choice of the user.
        if settings.isSet(Self.key) || Self.isGNOME { apply(settings.string(Self.key)) }
    }

    private static var isGNOME: Bool {
        let desktops = ProcessInfo.processInfo.environment["XDG_CURRENT_DESKTOP"] ?? ""
        return desktops.split(separator: ":").contains("GNOME")
    }

    private func apply(_ value: String) {
        let isTwelveHour = value == "12h"
        if self.isTwelveHour != isTwelveHour { self.isTwelveHour = isTwelveHour }
    }

    // MARK: Flatpak

    /// `G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES`, by value: Swift does not import the constants of newer GLib.
    private static let withoutProperties = GDBusProxyFlags(rawValue: 1)
    private static let isSandboxed = FileManager.default.fileExists(atPath: "/.flatpak-info")

    /// In a Flatpak, asks the Settings portal for the clock format and follows its changes. Call it once the window is
    /// shown, as D-Bus may have to start the portal.
    public func readPortal() {
        guard Self.isSandboxed else { return }
        connectPortal()
    }

    package func connectPortal(named name: String = "org.freedesktop.portal.Desktop") {
        AsyncCall.start {
            g_dbus_proxy_new_for_bus(
                G_BUS_TYPE_SESSION, Self.withoutProperties, nil, name,
                "/org/freedesktop/portal/desktop", "org.freedesktop.portal.Settings", nil, $0, $1)
        } _: { [weak self] _, result in
            guard let proxy = g_dbus_proxy_new_for_bus_finish(result, nil) else { return }
            self?.read(from: Object(owning: UnsafeMutableRawPointer(proxy)))
        }
    }

    private func read(from portal: Object) {
        self.portal = portal
        portal.connect("g-signal") { [weak self] arguments in
            guard arguments.string(1) == "SettingChanged", let change = arguments.variant(2) else { return }
            self?.apply(change: change)
        }
        let names = [g_variant_new_string(Self.schema), g_variant_new_string(Self.key)]
        let arguments = g_variant_new_tuple(names, gsize(names.count))
        AsyncCall.start {
            g_dbus_proxy_call(portal.cast(), "Read", arguments, GDBusCallFlags(rawValue: 0), -1, nil, $0, $1)
        } _: { [weak self] source, result in
            guard let source,
                let answer = g_dbus_proxy_call_finish(source.assumingMemoryBound(to: GDBusProxy.self), result, nil)
            else { return }
            defer { g_variant_unref(answer) }
            if let value = Self.string(in: answer, at: 0) { self?.apply(value) }
        }
    }

    /// - Parameter change: the arguments of `SettingChanged`: namespace, key and value.
    private func apply(change: OpaquePointer) {
        guard Self.string(in: change, at: 0) == Self.schema, Self.string(in: change, at: 1) == Self.key,
            let value = Self.string(in: change, at: 2)
        else { return }
        apply(value)
    }

    /// Returns a string of a tuple, without the variants around it: `Read` answers with two of them.
    private static func string(in tuple: OpaquePointer, at index: gsize) -> String? {
        guard g_variant_is_container(tuple) != 0, index < g_variant_n_children(tuple),
            var value = g_variant_get_child_value(tuple, index)
        else { return nil }
        defer { g_variant_unref(value) }
        while g_variant_classify(value) == G_VARIANT_CLASS_VARIANT {
            guard let inner = g_variant_get_variant(value) else { return nil }
            g_variant_unref(value)
            value = inner
        }
        guard g_variant_classify(value) == G_VARIANT_CLASS_STRING else { return nil }
        return g_variant_get_string(value, nil).map { String(cString: $0) }
    }

    // MARK: Locale

    /// From the time format of the locale; without one, a clock of 24 hours.
    static var isTwelveHourInLocale: Bool {
        guard let pattern = nl_langinfo(nl_item(T_FMT)) else { return false }
        return isTwelveHour(timeFormat: String(cString: pattern))
    }

    static func isTwelveHour(timeFormat: String) -> Bool {
        ["%I", "%l", "%r", "%p"].contains { timeFormat.contains($0) }
    }
}

extension Date {
    /// Cached, because GLib reads the zone file again for each date in the local zone.
    private nonisolated static let zone = Mutex(LocalZone())

    /// Reads the local time zone again, which may have changed during a suspend.
    public nonisolated static func updateLocalZone() {
        zone.withLock { $0 = LocalZone(revision: $0.revision + 1) }
    }

    /// Increases with each ``updateLocalZone()``, after which formatted texts may be outdated.
    public nonisolated static var localZoneRevision: Int { zone.withLock { $0.revision } }

    /// Formats the date in the user's locale and time zone.
    /// - Parameter pattern: As for `strftime`.
    public nonisolated func formatted(pattern: String) -> String {
        Self.zone.withLock { zone in
            guard let utc = g_date_time_new_from_unix_utc(gint64(timeIntervalSince1970)) else { return "" }
            defer { g_date_time_unref(utc) }
            guard let local = g_date_time_to_timezone(utc, zone.pointer) else { return "" }
            defer { g_date_time_unref(local) }
            guard let text = g_date_time_format(local, pattern) else { return "" }
            defer { g_free(text) }
            return String(cString: text)
        }
    }
}

/// Owns a `GTimeZone`, which is immutable and may be used on any thread.
private nonisolated struct LocalZone: ~Copyable, @unchecked Sendable {
    let pointer = g_time_zone_new_local()
    let revision: Int

    init(revision: Int = 0) { self.revision = revision }

    deinit { g_time_zone_unref(pointer) }
}
