import CGtk

/// Provides results to GNOME Shell's search: the D-Bus interface `org.gnome.Shell.SearchProvider2`.
@MainActor public final class SearchProvider {
    public nonisolated struct Result: Sendable {
        public var id: String
        public var name: String
        public var description: String

        public init(id: String, name: String, description: String) {
            self.id = id
            self.name = name
            self.description = description
        }
    }

    /// The handlers of the desktop's requests.
    public struct Answers {
        /// Returns the IDs of the results that match all terms, among earlier results unless those are `nil`.
        public var search: @MainActor (_ terms: [String], _ previous: [String]?) async -> [String]
        public var describe: @MainActor (_ ids: [String]) async -> [Result]
        public var open: @MainActor (_ id: String) -> Void
        /// Shows the search in the application.
        public var launch: @MainActor (_ terms: [String]) -> Void

        public init(
            search: @escaping @MainActor ([String], [String]?) async -> [String],
            describe: @escaping @MainActor ([String]) async -> [Result],
            open: @escaping @MainActor (String) -> Void, launch: @escaping @MainActor ([String]) -> Void
        ) {
            self.search = search
            self.describe = describe
            self.open = open
            self.launch = launch
        }
    }

    private let answers: Answers
    private let icon: String
    private let bus: OpaquePointer
    private var registration: guint = 0

    /// Exports the provider on the session bus. Call this before the application acquires its name: the search that
    /// starts the program is sent as soon as the name has an owner.
    /// - Parameters:
    ///   - path: the object path in `data/*.search-provider.ini`.
    ///   - icon: the icon name of all results.
    /// - Returns: `nil` without a session bus, or if the path is taken.
    public init?(at path: String, icon: String, answers: Answers) {
        guard let bus = SessionBus.connect() else { return nil }
        self.answers = answers
        self.icon = icon
        self.bus = bus
        guard let node = g_dbus_node_info_new_for_xml(Self.description, nil) else { return nil }
        defer { g_dbus_node_info_unref(node) }
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, method, parameters, invocation, data in
            nonisolated(unsafe) let (method, parameters, invocation, data) = (method, parameters, invocation, data)
            MainActor.assumeIsolated {
                guard let data, let method, let parameters, let invocation else { return }
                let provider = Unmanaged<SearchProvider>.fromOpaque(data).takeUnretainedValue()
                provider.handle(String(cString: method), parameters, invocation)
            }
        }
        registration = g_dbus_connection_register_object(
            bus, path, node.pointee.interfaces[0], &table, Unmanaged.passUnretained(self).toOpaque(), nil, nil)
        guard registration != 0 else { return nil }
    }

    isolated deinit {
        if registration != 0 { g_dbus_connection_unregister_object(bus, registration) }
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    private func handle(_ method: String, _ parameters: OpaquePointer, _ invocation: OpaquePointer) {
        switch method {
        case "GetInitialResultSet":
            search(BusValue.texts(parameters, 0) ?? [], nil, invocation)
        case "GetSubsearchResultSet":
            search(BusValue.texts(parameters, 1) ?? [], BusValue.texts(parameters, 0) ?? [], invocation)
        case "GetResultMetas":
            let ids = BusValue.texts(parameters, 0) ?? []
            Task { [answers, icon] in
                let results = await answers.describe(ids)
                g_dbus_method_invocation_return_value(invocation, BusValue.tuple([Self.metas(results, icon: icon)]))
            }
        case "ActivateResult":
            if let id = BusValue.text(parameters, 0) { answers.open(id) }
            g_dbus_method_invocation_return_value(invocation, nil)
        default:
            answers.launch(BusValue.texts(parameters, 0) ?? [])
            g_dbus_method_invocation_return_value(invocation, nil)
        }
    }

    private func search(_ terms: [String], _ previous: [String]?, _ invocation: OpaquePointer) {
        Task { [answers] in
            let ids = await answers.search(terms, previous)
            g_dbus_method_invocation_return_value(invocation, BusValue.tuple([BusValue.texts(ids)]))
        }
    }

    /// The results as `aa{sv}`.
    private static func metas(_ results: [Result], icon: String) -> OpaquePointer? {
        BusValue.array(
            of: "a{sv}",
            results.map { result in
                var options: [(name: String, value: OpaquePointer?)] = [
                    ("id", BusValue.text(result.id)), ("name", BusValue.text(result.name)),
                    ("gicon", BusValue.text(icon)),
                ]
                if !result.description.isEmpty { options.append(("description", BusValue.text(result.description))) }
                return BusValue.options(options)
            })
    }

    private static let description = """
        <node>
        <interface name="org.gnome.Shell.SearchProvider2">
        <method name="GetInitialResultSet"><arg type="as" direction="in"/><arg type="as" direction="out"/></method>
        <method name="GetSubsearchResultSet"><arg type="as" direction="in"/><arg type="as" direction="in"/>
        <arg type="as" direction="out"/></method>
        <method name="GetResultMetas"><arg type="as" direction="in"/><arg type="aa{sv}" direction="out"/></method>
        <method name="ActivateResult"><arg type="s" direction="in"/><arg type="as" direction="in"/>
        <arg type="u" direction="in"/></method>
        <method name="LaunchSearch"><arg type="as" direction="in"/><arg type="u" direction="in"/></method>
        </interface>
        </node>
        """
}
