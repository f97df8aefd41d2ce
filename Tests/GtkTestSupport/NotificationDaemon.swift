import CGtk
import GtkKit

/// A notification daemon within the test process that records its notifications: one that implements the
/// freedesktop.org specification, or GNOME Shell's.
@MainActor
public final class NotificationDaemon {
    public enum Kind: Sendable {
        case freedesktop, gnome
    }

    /// A notification as received by the daemon.
    public struct Shown: Equatable, Sendable {
        public var title = ""
        public var body = ""
        /// The button labels by action key.
        public var buttons: [String: String] = [:]
        public var hints: Set<String> = []
        /// GNOME: the default action and its target.
        public var defaultAction: [String] = []
    }

    /// The displayed notifications, by the daemon's ID, or for GNOME by the application's.
    public private(set) var shown: [String: Shown] = [:]
    /// The number of notifications displayed that did not replace another.
    public private(set) var count = 0
    /// The capabilities that the daemon reports.
    public var capabilities = ["actions", "body", "body-markup"]

    private let kind: Kind
    private let bus: OpaquePointer
    private let owner: guint
    private var registration: guint = 0

    private static let description = """
        <node>
        <interface name="org.freedesktop.Notifications">
        <method name="GetCapabilities"><arg type="as" direction="out"/></method>
        <method name="Notify"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="s" direction="in"/>
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="as" direction="in"/>
        <arg type="a{sv}" direction="in"/><arg type="i" direction="in"/><arg type="u" direction="out"/></method>
        <method name="CloseNotification"><arg type="u" direction="in"/></method>
        <signal name="ActivationToken"><arg type="u"/><arg type="s"/></signal>
        <signal name="ActionInvoked"><arg type="u"/><arg type="s"/></signal>
        <signal name="NotificationReplied"><arg type="u"/><arg type="s"/></signal>
        <signal name="NotificationClosed"><arg type="u"/><arg type="u"/></signal>
        </interface>
        <interface name="org.gtk.Notifications">
        <method name="AddNotification"><arg type="s" direction="in"/><arg type="s" direction="in"/>
        <arg type="a{sv}" direction="in"/></method>
        <method name="RemoveNotification"><arg type="s" direction="in"/><arg type="s" direction="in"/></method>
        </interface>
        </node>
        """

    public init(_ kind: Kind) throws {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil),
            let node = g_dbus_node_info_new_for_xml(Self.description, nil)
        else { throw NotStarted() }
        defer { g_dbus_node_info_unref(node) }
        self.kind = kind
        self.bus = bus
        let name = kind == .gnome ? "org.gtk.Notifications" : "org.freedesktop.Notifications"
        owner = g_bus_own_name_on_connection(bus, name, GBusNameOwnerFlags(rawValue: 0), nil, nil, nil, nil)
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, method, parameters, invocation, data in
            nonisolated(unsafe) let (method, parameters, invocation, data) = (method, parameters, invocation, data)
            MainActor.assumeIsolated {
                guard let data, let method, let parameters else { return }
                let daemon = Unmanaged<NotificationDaemon>.fromOpaque(data).takeUnretainedValue()
                g_dbus_method_invocation_return_value(
                    invocation, daemon.answer(String(cString: method), parameters))
            }
        }
        registration = g_dbus_connection_register_object(
            bus, kind == .gnome ? "/org/gtk/Notifications" : Self.path,
            node.pointee.interfaces[kind == .gnome ? 1 : 0], &table, Unmanaged.passUnretained(self).toOpaque(), nil, nil
        )
        guard registration != 0, owns(name) else { throw NotStarted() }
    }

    private func owns(_ name: String) -> Bool {
        MainLoop.pump {
            let answer = g_dbus_connection_call_sync(
                bus, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameHasOwner",
                g_variant_new_tuple([g_variant_new_string(name)], 1), nil, GDBusCallFlags(rawValue: 0), -1, nil, nil)
            guard let answer, let value = g_variant_get_child_value(answer, 0) else { return false }
            defer {
                g_variant_unref(value)
                g_variant_unref(answer)
            }
            return g_variant_get_boolean(value) != 0
        }
    }

    public func close() {
        g_bus_unown_name(owner)
        g_dbus_connection_unregister_object(bus, registration)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    /// Invokes an action of a freedesktop.org notification, as a click does.
    /// - Parameter token: lets a window get the focus; `nil` from a daemon that sends none.
    public func invoke(_ key: String, of id: String, token: String? = nil) {
        if let token {
            emit("ActivationToken", [g_variant_new_uint32(UInt32(id) ?? 0), g_variant_new_string(token)])
        }
        emit("ActionInvoked", [g_variant_new_uint32(UInt32(id) ?? 0), g_variant_new_string(key)])
    }

    /// Sends an inline reply to a freedesktop.org notification.
    public func reply(_ text: String, to id: String) {
        emit("NotificationReplied", [g_variant_new_uint32(UInt32(id) ?? 0), g_variant_new_string(text)])
    }

    /// Dismisses a freedesktop.org notification, as the user would.
    public func dismiss(_ id: String) {
        shown[id] = nil
        emit("NotificationClosed", [g_variant_new_uint32(UInt32(id) ?? 0), g_variant_new_uint32(2)])
    }

    public struct NotStarted: Error {}

    private static let path = "/org/freedesktop/Notifications"

    private func emit(_ signal: String, _ arguments: [OpaquePointer?]) {
        g_dbus_connection_emit_signal(
            bus, nil, Self.path, "org.freedesktop.Notifications", signal,
            g_variant_new_tuple(arguments, gsize(arguments.count)), nil)
    }

    private func answer(_ method: String, _ arguments: OpaquePointer) -> OpaquePointer? {
        let parts = Self.children(of: arguments)
        defer { for part in parts { g_variant_unref(part) } }
        switch method {
        case "GetCapabilities":
            let type = g_variant_type_new("s")
            defer { g_variant_type_free(type) }
            let texts = capabilities.map { g_variant_new_string($0) }
            return g_variant_new_tuple([g_variant_new_array(type, texts, gsize(texts.count))], 1)
        case "Notify":
            let replaced = g_variant_get_uint32(parts[1])
            if replaced == 0 { count += 1 }
            let number = replaced == 0 ? UInt32(count) : replaced
            let actions = Self.texts(of: parts[5])
            var notification = Shown(title: Self.text(parts[3]), body: Self.text(parts[4]))
            for index in stride(from: 0, to: actions.count - 1, by: 2) where actions[index] != "default" {
                notification.buttons[actions[index]] = actions[index + 1]
            }
            notification.hints = Set(Self.options(in: parts[6]).keys)
            shown["\(number)"] = notification
            return g_variant_new_tuple([g_variant_new_uint32(number)], 1)
        case "CloseNotification": shown["\(g_variant_get_uint32(parts[0]))"] = nil
        case "AddNotification": add(Self.text(parts[1]), Self.options(in: parts[2]))
        default: shown[Self.text(parts[1])] = nil
        }
        return nil
    }

    private func add(_ id: String, _ options: [String: String]) {
        if shown[id] == nil { count += 1 }
        shown[id] = Shown(
            title: options["title"] ?? "", body: options["body"] ?? "", hints: Set(options.keys),
            defaultAction: [options["default-action"] ?? "", options["default-action-target"] ?? ""])
    }

    // MARK: Values

    private static func children(of value: OpaquePointer) -> [OpaquePointer] {
        (0..<g_variant_n_children(value)).compactMap { g_variant_get_child_value(value, $0) }
    }

    /// The value of a string, or any other value in GVariant text format.
    private static func text(_ value: OpaquePointer) -> String {
        if g_variant_classify(value) == G_VARIANT_CLASS_STRING {
            return g_variant_get_string(value, nil).map { String(cString: $0) } ?? ""
        }
        guard let printed = g_variant_print(value, 0) else { return "" }
        defer { g_free(printed) }
        return String(cString: printed)
    }

    private static func texts(of array: OpaquePointer) -> [String] {
        let values = children(of: array)
        defer { for value in values { g_variant_unref(value) } }
        return values.map { text($0) }
    }

    private static func options(in dictionary: OpaquePointer) -> [String: String] {
        var options: [String: String] = [:]
        for entry in children(of: dictionary) {
            let pair = children(of: entry)
            if let value = g_variant_get_variant(pair[1]) {
                options[text(pair[0])] = text(value)
                g_variant_unref(value)
            }
            for part in pair + [entry] { g_variant_unref(part) }
        }
        return options
    }
}
