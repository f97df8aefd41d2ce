import CGtk

/// A GApplication: one process per user and application ID; a second launch is forwarded to the first.
public final class Application: Object {
    public convenience init(id: String) {
        self.init(owning: UnsafeMutableRawPointer(adw_application_new(id, shim_application_handles_open)))
        g_application_add_main_option(
            cast(), "version", 0, GOptionFlags(rawValue: 0), G_OPTION_ARG_NONE,
            translated("Print the version and exit"), nil)
    }

    /// Handles `--version` without starting the application.
    public func handleVersionOption(with version: String) {
        connectReturningInt("handle-local-options") { arguments in
            guard let options = arguments.boxed(0),
                g_variant_dict_contains(options.assumingMemoryBound(to: GVariantDict.self), "version") != 0
            else { return -1 }
            print(version)
            return 0
        }
    }

    public func onStartup(_ handler: @escaping @MainActor () -> Void) {
        connect("startup", after: true) { _ in
            PopoverGrabs.installUnmapHook
            PopoverPlacement.installShowGuard
            handler()
        }
    }
    public func onActivate(_ handler: @escaping @MainActor () -> Void) { connect("activate") { _ in handler() } }
    /// Calls `handler` with each URI that the application is asked to open.
    public func onOpen(_ handler: @escaping @MainActor (String) -> Void) {
        connect("open") { arguments in
            guard let files = arguments.pointer(0)?.assumingMemoryBound(to: OpaquePointer.self) else { return }
            for index in 0..<arguments.int(1) {
                guard let address = g_file_get_uri(files[index]) else { continue }
                defer { g_free(address) }
                handler(String(cString: address))
            }
        }
    }
    public func onShutdown(_ handler: @escaping @MainActor () -> Void) { connect("shutdown") { _ in handler() } }

    /// Runs until the last window is closed and no hold remains.
    /// - Returns: The exit status.
    public func run(_ arguments: [String]) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { g_strdup($0) }
        defer { pointers.forEach { g_free($0) } }
        return g_application_run(cast(), Int32(pointers.count), &pointers)
    }

    public func quit() { g_application_quit(cast()) }
    /// Keeps the process running without windows until ``release()``.
    public func hold() { g_application_hold(cast()) }
    public func release() { g_application_release(cast()) }

    @discardableResult
    public func addAction(_ name: String, _ handler: @escaping @MainActor () -> Void) -> Action {
        ActionMap.add(to: pointer, name, acceptsString: false, true) { _ in handler() }
    }

    /// Sets the accelerators of an action in GTK's syntax, for example `<Control>q`.
    public func setKeys(_ keys: [String], for action: String) {
        var pointers: [UnsafePointer<CChar>?] = keys.map { UnsafePointer(g_strdup($0)) } + [nil]
        defer { pointers.forEach { g_free(UnsafeMutableRawPointer(mutating: $0)) } }
        gtk_application_set_accels_for_action(cast(), action, &pointers)
    }
}
