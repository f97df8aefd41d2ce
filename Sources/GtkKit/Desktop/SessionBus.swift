import CGtk

/// The D-Bus session bus.
@MainActor
enum SessionBus {
    /// Whether a process owns a well-known name; `false` if there is no bus, or it does not answer within a second.
    static func hasOwner(_ name: String) -> Bool {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else { return false }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        var argument: OpaquePointer? = g_variant_new_string(name)
        let answer = g_dbus_connection_call_sync(
            bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
            g_variant_new_tuple(&argument, 1), nil, GDBusCallFlags(rawValue: 0), 1000, nil, nil)
        guard let answer else { return false }
        defer { g_variant_unref(answer) }
        guard let owner = g_variant_get_child_value(answer, 0) else { return false }
        defer { g_variant_unref(owner) }
        return g_variant_get_boolean(owner) != 0
    }
}
