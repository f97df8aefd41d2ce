import CGtk
import GtkTestSupport
import XCTest

@testable import GtkKit

final class ScreenLockTests: GtkTestCase {
    func testLockIsReadWithoutWaitingForTheBusAndFollowed() throws {
        try onMain {
            let desktop = try FakeScreenSaver(isActive: true)
            let lock = ScreenLock()
            lock.follow()
            XCTAssertFalse(lock.isLocked, "the answer comes later")
            XCTAssertTrue(MainLoop.pump { lock.isLocked })
            desktop.report(false)
            XCTAssertTrue(MainLoop.pump { !lock.isLocked })
            desktop.report(true)
            XCTAssertTrue(MainLoop.pump { lock.isLocked })
            desktop.close()
            XCTAssertTrue(MainLoop.pump { !lock.isLocked }, "it has ended without a report")
        }
    }
}

/// GNOME's screen saver within the test process.
@MainActor
private final class FakeScreenSaver {
    private static let name = "org.gnome.ScreenSaver"
    private static let path = "/org/gnome/ScreenSaver"
    private static let description = """
        <node><interface name="org.gnome.ScreenSaver">
        <method name="GetActive"><arg type="b" direction="out"/></method>
        <signal name="ActiveChanged"><arg type="b"/></signal>
        </interface></node>
        """

    private let isActive: Bool
    private let bus: OpaquePointer
    private let owner: guint
    private var registration: guint = 0

    /// - Parameter isActive: the answer to who asks.
    init(isActive: Bool) throws {
        self.isActive = isActive
        bus = try XCTUnwrap(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil))
        let node = try XCTUnwrap(g_dbus_node_info_new_for_xml(Self.description, nil))
        defer { g_dbus_node_info_unref(node) }
        owner = g_bus_own_name_on_connection(bus, Self.name, GBusNameOwnerFlags(rawValue: 0), nil, nil, nil, nil)
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, _, _, invocation, data in
            nonisolated(unsafe) let (invocation, data) = (invocation, data)
            MainActor.assumeIsolated {
                guard let data else { return }
                let service = Unmanaged<FakeScreenSaver>.fromOpaque(data).takeUnretainedValue()
                g_dbus_method_invocation_return_value(
                    invocation, BusValue.tuple([BusValue.bool(service.isActive)]))
            }
        }
        registration = g_dbus_connection_register_object(
            bus, Self.path, node.pointee.interfaces[0], &table, Unmanaged.passUnretained(self).toOpaque(), nil, nil)
    }

    func report(_ isActive: Bool) {
        g_dbus_connection_emit_signal(
            bus, nil, Self.path, Self.name, "ActiveChanged", BusValue.tuple([BusValue.bool(isActive)]), nil)
    }

    func close() {
        g_bus_unown_name(owner)
        g_dbus_connection_unregister_object(bus, registration)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }
}
