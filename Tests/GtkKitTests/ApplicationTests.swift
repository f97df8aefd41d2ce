import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

/// When an application starts GTK. The tests have already opened the display, so this tests the application's own
/// functions.
final class ApplicationTests: GtkTestCase {
    @MainActor
    private final class Log {
        var events: [String] = []
    }

    /// Creates an application and runs its startup.
    @MainActor
    private static func make(
        _ name: String, _ log: Log, isService: Bool, loadsResources: Bool = true
    ) -> Application {
        let application = Application(
            id: "io.github.parlance_chat.Parlance.\(name)", servesWithoutToolkit: true,
            loadsResources: loadsResources)
        let service = isService ? shim_application_is_service.rawValue : 0
        g_application_set_flags(
            application.cast(), GApplicationFlags(rawValue: shim_application_non_unique.rawValue | service))
        application.onStartup { log.events.append("startup") }
        application.onToolkitStart { log.events.append("toolkit") }
        g_application_register(application.cast(), nil, nil)
        return application
    }

    func testToolkitStartsAfterTheStartupOfAnOrdinaryApplication() {
        onMain {
            let log = Log()
            let application = Self.make("Ordinary", log, isService: false)
            XCTAssertEqual(log.events, ["startup", "toolkit"])
            XCTAssertTrue(application.startToolkit())
            XCTAssertEqual(log.events, ["startup", "toolkit"], "it starts once")
        }
    }

    /// A folder of icons that is added has GTK read its icon theme again.
    func testOnlyAnApplicationThatLoadsResourcesAddsAFolderOfIcons() {
        onMain {
            let loading = Self.make("Loading", Log(), isService: false)
            let own = Self.make("WithoutResources", Log(), isService: false, loadsResources: false)
            withExtendedLifetime((loading, own)) {
                let folders = Self.iconFolders
                XCTAssertTrue(folders.contains { $0.contains("/Loading/") }, "\(folders)")
                XCTAssertFalse(folders.contains { $0.contains("/WithoutResources/") }, "\(folders)")
            }
        }
    }

    @MainActor
    private static var iconFolders: [String] {
        guard let theme = gdk_display_get_default().flatMap({ gtk_icon_theme_get_for_display($0) }),
            let folders = gtk_icon_theme_get_resource_path(theme)
        else { return [] }
        defer { g_strfreev(folders) }
        return (0..<Int(g_strv_length(folders))).compactMap { folders[$0].map { String(cString: $0) } }
    }

    func testServiceStartsTheToolkitOnDemandAndGivesItTheTokenOfTheRequest() throws {
        try onMain {
            let log = Log()
            let application = Self.make("Service", log, isService: true)
            XCTAssertEqual(log.events, ["startup"])
            let functions = try XCTUnwrap(shim_instance_class(application.pointer))
                .assumingMemoryBound(to: GApplicationClass.self).pointee
            // GApplication calls these before and after a D-Bus request.
            let first = try Self.platformData("first_TIME1")
            functions.before_emit(application.cast(), first)
            functions.after_emit(application.cast(), first)
            XCTAssertEqual(log.events, ["startup"], "a request alone starts nothing")
            let second = try Self.platformData("second_TIME2")
            functions.before_emit(application.cast(), second)
            XCTAssertTrue(application.startToolkit())
            XCTAssertEqual(log.events, ["startup", "toolkit"])
            let display = try XCTUnwrap(gdk_display_get_default())
            XCTAssertEqual(gdk_display_get_startup_notification_id(display).map { String(cString: $0) }, "second_TIME2")
            functions.after_emit(application.cast(), second)
            for data in [first, second] { g_variant_unref(data) }
            // Windows inherit the application's actions.
            application.addAction("greet") { log.events.append("greeting") }
            let window = Widget(sinking: gtk_application_window_new(application.cast()))
            gtk_window_present(window.cast())
            XCTAssertTrue(window.activateAction("app.greet"))
            XCTAssertEqual(log.events.last, "greeting")
            gtk_window_destroy(window.cast())
        }
    }

    @MainActor
    private static func platformData(_ token: String) throws -> OpaquePointer {
        try XCTUnwrap(
            BusValue.options([("desktop-startup-id", BusValue.text(token))]).map { g_variant_ref_sink($0) })
    }
}
