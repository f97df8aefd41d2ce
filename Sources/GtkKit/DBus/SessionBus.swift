import CGtk

/// The D-Bus session bus.
@MainActor
enum SessionBus {
    /// Asks whether a process owns a well-known name, without waiting for the bus: it is busy while a desktop starts.
    /// - Parameter done: receives `false` if there is no bus, or it does not answer within a second.
    static func askForOwner(of name: String, _ done: @escaping @MainActor (Bool) -> Void) {
        daemon.call("NameHasOwner", [BusValue.text(name)], within: .seconds(1)) { answer in
            done(answer.flatMap { BusValue.bool($0, 0) } ?? false)
        }
    }

    /// Whether a process owns a well-known name; `false` if there is no bus, or it does not answer within a second.
    /// Blocks until then: not for a process that shows something.
    static func hasOwner(_ name: String) -> Bool {
        guard let bus = connect() else { return false }
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

    /// The bus itself, which assigns the names.
    static let daemon = BusObject(
        name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus")

    /// The process's bus name as an object path element.
    static var ownPathElement: String {
        guard let bus = connect() else { return "" }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        let name = g_dbus_connection_get_unique_name(bus).map { String(cString: $0) } ?? ""
        return String(name.drop { $0 == ":" }.map { $0 == "." ? "_" : $0 })
    }

    /// Sends queued messages, which would be lost if the process ended now.
    static func flush() {
        guard let bus = connect() else { return }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        g_dbus_connection_flush_sync(bus, nil, nil)
    }

    /// Returns a new reference to the connection that the whole process shares, or `nil` without a bus.
    static func connect() -> OpaquePointer? { g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) }
}

/// An object of another process on the session bus.
@MainActor
struct BusObject {
    let name: String
    let path: String
    let interface: String

    /// Calls a method without waiting for the reply.
    /// - Parameters:
    ///   - arguments: see ``BusValue``.
    ///   - limit: how long to wait for the reply; by default as long as D-Bus does.
    ///   - done: receives the tuple of results, valid during the call, or `nil` if there is no bus, the name has no
    ///   owner, or the method failed.
    func call(
        _ method: String, _ arguments: [OpaquePointer?] = [], within limit: Duration? = nil,
        _ done: @escaping @MainActor (OpaquePointer?) -> Void = { _ in }
    ) {
        let parameters = BusValue.tuple(arguments)
        guard let bus = SessionBus.connect() else {
            BusValue.drop(parameters)
            return done(nil)
        }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        AsyncCall.start {
            g_dbus_connection_call(
                bus, name, path, interface, method, parameters, nil, GDBusCallFlags(rawValue: 0),
                limit.map { Int32($0 / .milliseconds(1)) } ?? -1, nil, $0, $1)
        } _: { source, result in
            guard let source,
                let answer = g_dbus_connection_call_finish(OpaquePointer(source), result, nil)
            else { return done(nil) }
            defer { g_variant_unref(answer) }
            done(answer)
        }
    }

    /// Calls `handler` with the arguments of a signal that the object emits, while the returned subscription exists.
    /// - Parameter first: The first argument of the signals to receive; `nil` for any.
    func subscribe(
        to signal: String, about first: String? = nil, _ handler: @escaping @MainActor (OpaquePointer) -> Void
    ) -> BusSubscription? { BusSubscription(to: signal, of: self, about: first, handler) }
}

/// A subscription to a signal, which ends with this object.
@MainActor
final class BusSubscription {
    private let bus: OpaquePointer
    private let id: guint

    fileprivate init?(
        to signal: String, of object: BusObject, about first: String?,
        _ handler: @escaping @MainActor (OpaquePointer) -> Void
    ) {
        guard let bus = SessionBus.connect() else { return nil }
        self.bus = bus
        let box = Unmanaged.passRetained(ClosureBox(handler))
        id = g_dbus_connection_signal_subscribe(
            bus, object.name, object.interface, signal, object.path, first, GDBusSignalFlags(rawValue: 0),
            { _, _, _, _, _, parameters, data in
                nonisolated(unsafe) let (parameters, data) = (parameters, data)
                MainActor.assumeIsolated {
                    guard let data, let parameters else { return }
                    let box = Unmanaged<ClosureBox<@MainActor (OpaquePointer) -> Void>>.fromOpaque(data)
                    box.takeUnretainedValue().closure(parameters)
                }
            }, box.toOpaque(),
            { data in
                // GLib calls this in an idle callback of the thread that subscribed.
                if let data { Unmanaged<ClosureBox<@MainActor (OpaquePointer) -> Void>>.fromOpaque(data).release() }
            })
    }

    isolated deinit {
        g_dbus_connection_signal_unsubscribe(bus, id)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }
}
