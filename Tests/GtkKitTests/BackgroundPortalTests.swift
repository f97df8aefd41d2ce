import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

final class BackgroundPortalTests: GtkTestCase {
    func testPermissionIsAskedForAndAnswered() throws {
        try onMain {
            let fake = try FakeBackgroundPortal()
            let portal = BackgroundPortal(named: FakeBackgroundPortal.name)
            var answers: [BackgroundPortal.Permission?] = []
            for (response, allowed) in [(UInt32(0), true), (0, false), (1, true)] {
                (fake.response, fake.isAllowed) = (response, allowed)
                portal.request(startsAtLogin: true, reason: "Receive messages", commandLine: ["parlance", "-x"]) {
                    answers.append($0)
                }
                let expected = answers.count + 1
                XCTAssertTrue(MainLoop.pump { answers.count == expected })
            }
            XCTAssertEqual(
                answers,
                [
                    BackgroundPortal.Permission(runsInBackground: true, startsAtLogin: true),
                    BackgroundPortal.Permission(runsInBackground: false, startsAtLogin: false), nil,
                ])
            XCTAssertTrue(fake.calls[0].contains("'reason': <'Receive messages'>"), fake.calls[0])
            XCTAssertTrue(fake.calls[0].contains("'commandline': <['parlance', '-x']>"), fake.calls[0])
            portal.setStatus("3 unread")
            XCTAssertTrue(MainLoop.pump { fake.calls.last == "({'message': <'3 unread'>},)" }, "\(fake.calls)")
            fake.close()
        }
    }

    func testMissingPortalIsNoPermission() {
        onMain {
            let portal = BackgroundPortal(named: "org.example.NoSuchPortal")
            var answers: [BackgroundPortal.Permission?] = []
            portal.request(startsAtLogin: false, reason: "", commandLine: []) { answers.append($0) }
            XCTAssertTrue(MainLoop.pump { answers == [nil] })
        }
    }
}

/// A Background portal within the test process.
@MainActor
private final class FakeBackgroundPortal {
    static let name = "org.example.TestBackgroundPortal"
    private static let description = """
        <node><interface name="org.freedesktop.portal.Background">
        <method name="RequestBackground"><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
        <arg type="o" direction="out"/></method>
        <method name="SetStatus"><arg type="a{sv}" direction="in"/></method>
        </interface></node>
        """

    /// The response code, 0 for success, and whether running in the background and at login is allowed.
    var response: UInt32 = 0
    var isAllowed = true
    /// The arguments of each call.
    private(set) var calls: [String] = []
    private let bus: OpaquePointer
    private let owner: guint
    private var registration: guint = 0

    init() throws {
        bus = try XCTUnwrap(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil))
        let node = try XCTUnwrap(g_dbus_node_info_new_for_xml(Self.description, nil))
        defer { g_dbus_node_info_unref(node) }
        owner = g_bus_own_name_on_connection(bus, Self.name, GBusNameOwnerFlags(rawValue: 0), nil, nil, nil, nil)
        var table = GDBusInterfaceVTable()
        table.method_call = { _, sender, _, _, method, parameters, invocation, data in
            nonisolated(unsafe) let (sender, method, parameters) = (sender, method, parameters)
            nonisolated(unsafe) let (invocation, data) = (invocation, data)
            MainActor.assumeIsolated {
                guard let data, let sender, let method, let parameters else { return }
                let portal = Unmanaged<FakeBackgroundPortal>.fromOpaque(data).takeUnretainedValue()
                portal.answer(String(cString: method), String(cString: sender), parameters, invocation)
            }
        }
        registration = g_dbus_connection_register_object(
            bus, "/org/freedesktop/portal/desktop", node.pointee.interfaces[0], &table,
            Unmanaged.passUnretained(self).toOpaque(), nil, nil)
    }

    private func answer(
        _ method: String, _ sender: String, _ parameters: OpaquePointer, _ invocation: OpaquePointer?
    ) {
        let printed = g_variant_print(parameters, 0)
        calls.append(printed.map { String(cString: $0) } ?? "")
        g_free(printed)
        guard method == "RequestBackground" else {
            return g_dbus_method_invocation_return_value(invocation, nil)
        }
        let token = calls.last?.split(separator: "'handle_token': <'").last?.prefix { $0 != "'" } ?? ""
        let element = sender.drop { $0 == ":" }.map { $0 == "." ? "_" : String($0) }.joined()
        let path = "/org/freedesktop/portal/desktop/request/\(element)/\(token)"
        // A portal may send the response before the method returns.
        g_dbus_connection_emit_signal(
            bus, sender, path, "org.freedesktop.portal.Request", "Response",
            BusValue.tuple([
                BusValue.uint32(response),
                BusValue.options([("background", BusValue.bool(isAllowed)), ("autostart", BusValue.bool(isAllowed))]),
            ]), nil)
        g_dbus_method_invocation_return_value(invocation, BusValue.tuple([g_variant_new_object_path(path)]))
    }

    func close() {
        g_bus_unown_name(owner)
        g_dbus_connection_unregister_object(bus, registration)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }
}
