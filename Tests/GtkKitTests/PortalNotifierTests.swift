import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Notifications in a Flatpak, with portals that support inline replies, that do not, and that claim to but fail.
final class PortalNotifierTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.PortalNotifierTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    @MainActor
    private static func notification(_ body: String) -> DesktopNotification {
        DesktopNotification(
            title: "Plans", body: body, icon: DecodedImage(pixels: [255, 0, 0, 255], width: 1, height: 1)?.png,
            category: "im.received", defaultAction: .init("open", "a/b"),
            buttons: [
                .init("Reply", .init("reply", "a/b"), acceptsText: true),
                .init("Mark as Read", .init("mark-read", "a/b")),
            ])
    }

    func testPortalThatAsksForTextsReceivesTheReply() throws {
        try onMain {
            let fake = try FakeNotificationPortal(
                "{'button-purpose': <['im.reply-with-text']>, 'category': <['im.received']>}")
            let notifier = PortalNotifier(Self.application, named: FakeNotificationPortal.name)
            var replies: [String] = []
            notifier.onReply = { replies.append("\($0): \($1)") }
            notifier.send(Self.notification("Ann: 1"), as: "room")
            notifier.send(Self.notification("Ann: <b>2</b>"), as: "room")
            XCTAssertTrue(MainLoop.pump { fake.added["room"]?.contains("'body': <'Ann: <b>2</b>'>") == true })
            let shown = try XCTUnwrap(fake.added["room"])
            for part in [
                "'title': <'Plans'>", "'sound': <'silent'>", "'priority': <'normal'>", "'category': <'im.received'>",
                "'default-action': <'app.open'>, 'default-action-target': <'a/b'>", "'icon': <('bytes', <[",
                "'display-hint': <['hide-content-on-lock-screen']>",
                "{'label': <'Reply'>, 'target': <'a/b'>, 'action': <'reply'>, 'purpose': <'im.reply-with-text'>}",
                "{'label': <'Mark as Read'>, 'target': <'a/b'>, 'action': <'app.mark-read'>}",
            ] { XCTAssertTrue(shown.contains(part), "\(part) in \(shown)") }
            fake.invoke("reply", of: "another", "[<'a/b'>, <{'activation-token': <'x'>}>, <'not of this program'>]")
            fake.invoke("reply", of: "room", "[<'a/b'>]")
            fake.invoke("reply", of: "room", "[<'c/d'>, <@a{sv} {}>, <'of another room'>]")
            fake.invoke("mark-read", of: "room", "[<'a/b'>, <@a{sv} {}>, <'to another button'>]")
            fake.invoke("reply", of: "room", "[<'a/b'>, <{'activation-token': <'x'>}>, <'At <three>'>]")
            XCTAssertTrue(MainLoop.pump { !replies.isEmpty })
            XCTAssertEqual(replies, ["a/b: At <three>"])
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { fake.added.isEmpty })
            fake.invoke("reply", of: "room", "[<'a/b'>, <@a{sv} {}>, <'after it was withdrawn'>]")
            notifier.send(Self.notification("Ann: 3"), as: "other")
            XCTAssertTrue(MainLoop.pump { fake.added["other"] != nil })
            XCTAssertEqual(replies.count, 1)
            fake.close()
        }
    }

    /// Such notifications are sent through GNotification, which on this bus reaches the fake GNOME Shell daemon.
    func testPortalWithoutTextsIsLeftToGNotification() throws {
        try onMain {
            let daemon = try NotificationDaemon(.gnome)
            for options in [nil, "@a{sv} {}", "{'button-purpose': <['system.custom-alert']>}"] {
                let fake = try FakeNotificationPortal(options)
                let notifier = PortalNotifier(Self.application, named: FakeNotificationPortal.name)
                notifier.send(Self.notification("Ann: 1"), as: "room")
                XCTAssertTrue(MainLoop.pump { daemon.shown["room"]?.body == "Ann: 1" }, options ?? "version 1")
                XCTAssertTrue(fake.added.isEmpty)
                notifier.withdraw("room")
                XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
                fake.close()
            }
            daemon.close()
        }
    }

    func testNotificationThatThePortalRejectsIsShownWithoutAText() throws {
        try onMain {
            let daemon = try NotificationDaemon(.gnome)
            let fake = try FakeNotificationPortal("{'button-purpose': <['im.reply-with-text']>}")
            fake.fails = true
            let notifier = PortalNotifier(Self.application, named: FakeNotificationPortal.name)
            notifier.send(Self.notification("Ann: 1"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown["room"]?.body == "Ann: 1" })
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            fake.close()
            daemon.close()
        }
    }
}

/// A notification portal within the test process that records its calls.
@MainActor
private final class FakeNotificationPortal {
    static let name = "org.example.TestNotificationPortal"
    private static let path = "/org/freedesktop/portal/desktop"
    private static let interface = "org.freedesktop.portal.Notification"
    private static let description = """
        <node><interface name="org.freedesktop.portal.Notification">
        <method name="AddNotification"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/></method>
        <method name="RemoveNotification"><arg type="s" direction="in"/></method>
        <signal name="ActionInvoked"><arg type="s"/><arg type="s"/><arg type="av"/></signal>
        PROPERTIES</interface></node>
        """

    /// Whether it rejects every notification.
    var fails = false
    /// The options of each notification by its ID, in GVariant text format.
    private(set) var added: [String: String] = [:]
    private let options: String?
    private let bus: OpaquePointer
    private let owner: guint
    private var registration: guint = 0

    /// - Parameter options: the property `SupportedOptions` in GVariant text format; `nil` for a portal of version 1.
    init(_ options: String?) throws {
        self.options = options
        let property = "<property name=\"SupportedOptions\" type=\"a{sv}\" access=\"read\"/>"
        let text = Self.description.replacing("PROPERTIES", with: options == nil ? "" : property)
        bus = try XCTUnwrap(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil))
        let node = try XCTUnwrap(g_dbus_node_info_new_for_xml(text, nil))
        defer { g_dbus_node_info_unref(node) }
        owner = g_bus_own_name_on_connection(bus, Self.name, GBusNameOwnerFlags(rawValue: 0), nil, nil, nil, nil)
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, method, parameters, invocation, data in
            nonisolated(unsafe) let (method, parameters) = (method, parameters)
            nonisolated(unsafe) let (invocation, data) = (invocation, data)
            MainActor.assumeIsolated {
                guard let data, let method, let parameters else { return }
                let portal = Unmanaged<FakeNotificationPortal>.fromOpaque(data).takeUnretainedValue()
                portal.answer(String(cString: method), parameters, invocation)
            }
        }
        table.get_property = { _, _, _, _, _, _, data in
            nonisolated(unsafe) let data = data
            let options = MainActor.assumeIsolated {
                data.map { Unmanaged<FakeNotificationPortal>.fromOpaque($0).takeUnretainedValue() }?.options
            }
            return options.flatMap { g_variant_parse(nil, $0, nil, nil, nil) }
        }
        registration = g_dbus_connection_register_object(
            bus, Self.path, node.pointee.interfaces[0], &table, Unmanaged.passUnretained(self).toOpaque(), nil, nil)
    }

    private func answer(_ method: String, _ arguments: OpaquePointer, _ invocation: OpaquePointer?) {
        let id = BusValue.text(arguments, 0) ?? ""
        if fails {
            return g_dbus_method_invocation_return_dbus_error(invocation, "org.example.Failed", "it is a test")
        }
        if method == "AddNotification", let options = g_variant_get_child_value(arguments, 1) {
            let printed = g_variant_print(options, 0)
            added[id] = printed.map { String(cString: $0) } ?? ""
            g_free(printed)
            g_variant_unref(options)
        } else {
            added[id] = nil
        }
        g_dbus_method_invocation_return_value(invocation, nil)
    }

    /// - Parameter parameters: in GVariant text format.
    func invoke(_ action: String, of id: String, _ parameters: String) {
        let type = g_variant_type_new("av")
        defer { g_variant_type_free(type) }
        g_dbus_connection_emit_signal(
            bus, nil, Self.path, Self.interface, "ActionInvoked",
            BusValue.tuple([
                BusValue.text(id), BusValue.text(action), g_variant_parse(type, parameters, nil, nil, nil),
            ]), nil)
    }

    func close() {
        g_bus_unown_name(owner)
        g_dbus_connection_unregister_object(bus, registration)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }
}
