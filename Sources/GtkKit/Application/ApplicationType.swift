import CGtk
import Glibc

/// The GType of ``Application``: an AdwApplication that starts GTK on demand instead of when the process starts.
///
/// A service may run for days without a window. The display alone would cost it tens of megabytes, most of them for the
/// GL driver, which GDK loads to find out whether it works.
enum ApplicationType {
    static let type: GType = {
        var query = GTypeQuery()
        g_type_query(adw_application_get_type(), &query)
        return g_type_register_static_simple(
            adw_application_get_type(), "ParlanceApplication", query.class_size,
            { klass, _ in
                nonisolated(unsafe) let klass = klass
                MainActor.assumeIsolated { ApplicationType.initialize(klass) }
            }, query.instance_size, nil, GTypeFlags(rawValue: 0))
    }()

    /// The functions of AdwApplication, which start or need GTK.
    static var adwaita: GApplicationClass? { functions(of: adw_application_get_type()) }
    private static var plain: GApplicationClass? { functions(of: g_application_get_type()) }

    private static func functions(of type: GType) -> GApplicationClass? {
        g_type_class_peek(type)?.assumingMemoryBound(to: GApplicationClass.self).pointee
    }

    /// Replaces each function of GtkApplication that depends on its own `startup`. The platform data of a request
    /// contains the token with which its window gets the focus, so it is kept until GTK can use it.
    private static func initialize(_ klass: gpointer?) {
        guard let functions = klass?.assumingMemoryBound(to: GApplicationClass.self) else { return }
        functions.pointee.startup = { application in
            // GTK does so when it starts. Otherwise, writing to a program that has ended would end this one.
            signal(SIGPIPE, SIG_IGN)
            ApplicationType.with(application) { application, toolkit in
                ApplicationType.plain?.startup(application)
                toolkit.applicationStarted()
            }
        }
        functions.pointee.before_emit = { application, platformData in
            nonisolated(unsafe) let platformData = platformData
            ApplicationType.with(application) { application, toolkit in
                if toolkit.isRunning { return ApplicationType.adwaita?.before_emit(application, platformData) ?? () }
                toolkit.request = platformData.map { g_variant_ref($0) }
            }
        }
        functions.pointee.after_emit = { application, platformData in
            nonisolated(unsafe) let platformData = platformData
            ApplicationType.with(application) { application, toolkit in
                toolkit.request.map { g_variant_unref($0) }
                toolkit.request = nil
                if toolkit.isRunning { ApplicationType.adwaita?.after_emit(application, platformData) }
            }
        }
        functions.pointee.shutdown = { application in
            ApplicationType.with(application) { application, toolkit in
                // Before its startup, GtkApplication's own function does nothing, not even what GApplication requires.
                (toolkit.isRunning ? ApplicationType.adwaita : ApplicationType.plain)?.shutdown(application)
            }
        }
    }

    /// Performs an action as if another process had requested it with this token: as the platform data of a request,
    /// the token is for the window that is presented next, even if GTK starts only for that.
    static func perform(
        _ action: () -> Void, of application: UnsafeMutablePointer<GApplication>, with token: String
    ) {
        // Which of these GTK reads depends on its version and on the display.
        let names = ["activation-token", "desktop-startup-id"]
        guard let platformData = BusValue.options(names.map { (name: $0, value: BusValue.text(token)) }),
            let klass = functions(of: type)
        else { return action() }
        g_variant_ref_sink(platformData)
        defer { g_variant_unref(platformData) }
        klass.before_emit(application, platformData)
        action()
        klass.after_emit(application, platformData)
    }

    private nonisolated static func with(
        _ application: UnsafeMutablePointer<GApplication>?,
        _ body: @MainActor (UnsafeMutablePointer<GApplication>, Toolkit) -> Void
    ) {
        nonisolated(unsafe) let application = application
        MainActor.assumeIsolated {
            if let application { body(application, Toolkit.of(application)) }
        }
    }
}

/// GTK and libadwaita, which an application starts when needed.
final class Toolkit {
    private static let quark = g_quark_from_string("parlance-toolkit")

    private let application: UnsafeMutablePointer<GApplication>
    private(set) var isRunning = false
    /// Whether a service waits for ``start()``.
    var isStartedOnDemand = false
    /// Whether the application's own startup has run.
    private var canStart = false
    /// Whether ``start()`` was called before that.
    private var isRequested = false
    /// The platform data of the current request.
    var request: OpaquePointer?
    var onApplicationStart: [@MainActor () -> Void] = []
    var onStart: [@MainActor () -> Void] = []

    private init(_ application: UnsafeMutablePointer<GApplication>) {
        self.application = application
    }

    static func of(_ application: UnsafeMutablePointer<GApplication>) -> Toolkit {
        let object = UnsafeMutableRawPointer(application).assumingMemoryBound(to: GObject.self)
        if let made = g_object_get_qdata(object, quark) {
            return Unmanaged<Toolkit>.fromOpaque(made).takeUnretainedValue()
        }
        let toolkit = Toolkit(application)
        g_object_set_qdata_full(object, quark, Unmanaged.passRetained(toolkit).toOpaque()) {
            if let toolkit = $0 { Unmanaged<Toolkit>.fromOpaque(toolkit).release() }
        }
        return toolkit
    }

    /// - Returns: `false` if no display can be opened.
    func start() -> Bool {
        guard canStart else {
            isRequested = true
            return true
        }
        guard !isRunning else { return true }
        guard GLProbe.suppressed({ Self.openDisplay() }), let adwaita = ApplicationType.adwaita else { return false }
        isRunning = true
        DefaultTheme.suppressed { _ = gtk_settings_get_default() }
        // Before GtkApplication creates the icon theme, which another thread then reads: libadwaita, which adds its icons,
        // would wait for that thread, and the theme would be read again.
        adw_init()
        // This runs GApplication's startup again, which only sets a flag.
        adwaita.startup(application)
        PopoverGrabs.installUnmapHook
        PopoverPlacement.installShowGuard
        if let request { adwaita.before_emit(application, request) }
        Self.call(&onStart)
        return true
    }

    /// Starts GTK after the application, unless this is a service that waits.
    func applicationStarted() {
        canStart = true
        Self.call(&onApplicationStart)
        let isService = g_application_get_flags(application).rawValue & shim_application_is_service.rawValue != 0
        guard !isStartedOnDemand || !isService || isRequested, !start() else { return }
        // Like `gtk_init`, but without `exit`, which would tear down state that other threads are using.
        let line = "\(g_get_prgname().map { String(cString: $0) } ?? "program"): cannot open a display\n"
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        _exit(1)
    }

    private static func call(_ handlers: inout [@MainActor () -> Void]) {
        let called = handlers
        handlers = []
        for handler in called { handler() }
    }

    private static func openDisplay() -> Bool {
        // After a failure, `gtk_init_check` reports success.
        if gtk_is_initialized() == 0 { return gtk_init_check() != 0 }
        return gdk_display_get_default() != nil || gdk_display_open(nil) != nil
    }
}
