import CGtk

/// A GApplication: one process per user and application ID; a second launch is forwarded to the first.
///
/// GTK starts with the application. A service can instead wait for ``startToolkit()``.
public final class Application: Object {
    /// - Parameters:
    ///   - options: the command-line options besides those of GTK and `--help`.
    ///   - servesWithoutToolkit: whether a service starts without GTK and calls ``startToolkit()`` before showing
    ///   anything.
    ///   - loadsResources: whether GTK and libadwaita load icons, menus and style sheets that bundles have below the path
    ///   that corresponds to the ID. This has the icon theme read twice, see ``IconTheme``.
    public convenience init(
        id: String, options: [CommandLineOption] = [], servesWithoutToolkit: Bool = false, loadsResources: Bool = true
    ) {
        self.init(owning: shim_application_new(ApplicationType.type, id, shim_application_handles_open))
        if !loadsResources { g_application_set_resource_base_path(cast(), nil) }
        toolkit.isStartedOnDemand = servesWithoutToolkit
        for option in options {
            g_application_add_main_option(
                cast(), option.name, 0, GOptionFlags(rawValue: 0),
                option.argument == nil ? G_OPTION_ARG_NONE : G_OPTION_ARG_STRING, option.description, option.argument)
        }
    }

    /// Handles the options of the command line in the process that was started, before it becomes the primary instance
    /// or forwards to it.
    /// - Parameter handler: returns the exit status, or `nil` to continue starting.
    public func onOptions(_ handler: @escaping @MainActor (CommandLineOptions) -> Int32?) {
        connectReturningInt("handle-local-options") { arguments in
            guard let options = arguments.boxed(0) else { return -1 }
            return handler(CommandLineOptions(options.assumingMemoryBound(to: GVariantDict.self))) ?? -1
        }
    }

    /// Whether another process runs as the application's primary instance; `false` if the session bus does not answer.
    public var isRunningElsewhere: Bool {
        guard let id = g_application_get_application_id(cast()) else { return false }
        return SessionBus.hasOwner(String(cString: id))
    }

    /// Gives up the bus name of a primary instance that is about to end: a request from now on starts another process,
    /// while one that reached this process would be lost with it.
    /// - Parameter done: called once the requests sent before have been handled; after two seconds at the latest.
    public func releaseName(_ done: @escaping @MainActor () -> Void) {
        SessionBus.daemon.call("ReleaseName", [BusValue.text(id)], within: .seconds(2)) { _ in done() }
    }

    /// Takes the bus name back after ``releaseName(_:)``.
    /// - Parameter done: receives `false` if another process has it, and `true` also if the bus does not answer: who
    /// needs to be alone must not rely on the name.
    public func claimName(_ done: @escaping @MainActor (Bool) -> Void) {
        let doNotQueue = BusValue.uint32(4)
        SessionBus.daemon.call("RequestName", [BusValue.text(id), doNotQueue], within: .seconds(2)) { reply in
            // 1 and 4: the process owns the name.
            done(reply.flatMap { BusValue.uint32($0, 0) }.map { $0 == 1 || $0 == 4 } ?? true)
        }
    }

    /// The application ID.
    var id: String { g_application_get_application_id(cast()).map { String(cString: $0) } ?? "" }

    /// Activates an action of the application that takes a text.
    /// - Parameter token: lets a window that the action presents get the focus; `nil` for none.
    func activate(_ action: String, _ parameter: String, token: String? = nil) {
        let activate = {
            g_action_group_activate_action(OpaquePointer(self.pointer), action, g_variant_new_string(parameter))
        }
        guard let token else { return activate() }
        ApplicationType.perform(activate, of: cast(), with: token)
    }

    /// Activates an action of the primary instance, which another process runs.
    public func activateRemotely(_ action: String, _ parameter: String? = nil) {
        guard g_application_register(cast(), nil, nil) != 0 else { return }
        g_action_group_activate_action(OpaquePointer(pointer), action, parameter.map { g_variant_new_string($0) })
        // The message is lost if the process ends before it is sent.
        if let connection = g_application_get_dbus_connection(cast()) {
            g_dbus_connection_flush_sync(connection, nil, nil)
        }
    }

    /// Calls `handler` when the primary instance starts, before GTK: it must not use widgets, styles or the display.
    /// Work that it starts on other threads runs in parallel with the start of GTK.
    public func onStartup(_ handler: @escaping @MainActor () -> Void) { toolkit.onApplicationStart.append(handler) }

    /// Calls `handler` once GTK and libadwaita have started. Call this before running the application.
    public func onToolkitStart(_ handler: @escaping @MainActor () -> Void) { toolkit.onStart.append(handler) }

    /// Starts GTK and libadwaita unless they are running. Called before the application's startup, it starts them as
    /// part of that. Call it while handling a request, before showing anything or using the display.
    /// - Returns: `false` if no display can be opened. A later call tries again.
    public func startToolkit() -> Bool { toolkit.start() }

    /// Whether the user would miss something if GTK ended: a window, or what was copied to the clipboard.
    public var isInUse: Bool {
        guard toolkit.isRunning, let display = gdk_display_get_default() else { return false }
        let clipboard = gdk_display_get_clipboard(display)
        return !TopLevel.visible.isEmpty
            || gdk_clipboard_is_local(clipboard) != 0 && gdk_clipboard_get_content(clipboard) != nil
    }
    /// Whether GTK has started.
    public var hasToolkit: Bool { toolkit.isRunning }

    private var toolkit: Toolkit { Toolkit.of(cast()) }

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

    /// Adds an action with a text as its parameter.
    @discardableResult
    public func addTextAction(_ name: String, _ handler: @escaping @MainActor (String) -> Void) -> Action {
        ActionMap.add(to: pointer, name, acceptsString: true, true) { handler($0) }
    }

    /// Sets the accelerators of an action in GTK's syntax, for example `<Control>q`.
    public func setKeys(_ keys: [String], for action: String) {
        var pointers: [UnsafePointer<CChar>?] = keys.map { UnsafePointer(g_strdup($0)) } + [nil]
        defer { pointers.forEach { g_free(UnsafeMutableRawPointer(mutating: $0)) } }
        gtk_application_set_accels_for_action(cast(), action, &pointers)
    }
}
