import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// The desktop's clock format: GNOME's setting, the portal's in a Flatpak, or the locale's.
final class ClockFormatTests: GtkTestCase {
    override func tearDownWithError() throws {
        onMain { ClockFormat.desktop.isTwelveHour = false }
        try super.tearDownWithError()
    }

    func testClockFollowsTheDesktopsSetting() throws {
        try onMain {
            let settings = try XCTUnwrap(Settings(schema: "org.gnome.desktop.interface", with: "clock-format"))
            settings.set("clock-format", "24h")
            XCTAssertFalse(ClockFormat.desktop.isTwelveHour)
            settings.set("clock-format", "12h")
            XCTAssertTrue(MainLoop.pump { ClockFormat.desktop.isTwelveHour })
            settings.set("clock-format", "24h")
            XCTAssertTrue(MainLoop.pump { !ClockFormat.desktop.isTwelveHour })
        }
    }

    func testMissingKeyIsNoSetting() {
        onMain { XCTAssertNil(Settings(schema: "org.gnome.desktop.interface", with: "no-such-key")) }
    }

    func testLocaleDecidesWithoutASetting() {
        onMain {
            for format in ["%r", "%I:%M:%S %p", "%l:%M %p"] {
                XCTAssertTrue(ClockFormat.isTwelveHour(timeFormat: format), format)
            }
            for format in ["%T", "%H:%M:%S", "%k:%M", ""] {
                XCTAssertFalse(ClockFormat.isTwelveHour(timeFormat: format), format)
            }
        }
    }

    /// The portal's reply and its later changes are applied; changes of other settings are ignored.
    func testClockFollowsThePortal() throws {
        try onMain {
            let portal = try SettingsPortal()
            ClockFormat.desktop.connectPortal(named: SettingsPortal.name)
            XCTAssertTrue(MainLoop.pump { ClockFormat.desktop.isTwelveHour })
            portal.change("org.gnome.desktop.interface", "text-scaling-factor", "24h")
            portal.change("org.gnome.desktop.interface", "clock-format", "24h")
            XCTAssertTrue(MainLoop.pump { !ClockFormat.desktop.isTwelveHour })
            portal.close()
        }
    }

    func testDatesAreInTheLocalZone() {
        let date = Date(timeIntervalSince1970: 1_767_323_045)
        let expected = DateFormatter()
        expected.dateFormat = "yyyy-MM-dd HH:mm:ss"
        XCTAssertEqual(date.formatted(pattern: "%Y-%m-%d %H:%M:%S"), expected.string(from: date))
    }
}

/// A Settings portal within the test process that returns “12h”.
@MainActor
private final class SettingsPortal {
    static let name = "org.example.TestPortal"
    private static let path = "/org/freedesktop/portal/desktop"
    private static let interface = "org.freedesktop.portal.Settings"
    private static let description = """
        <node><interface name="\(interface)">
        <method name="Read"><arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="v" direction="out"/></method>
        <signal name="SettingChanged"><arg type="s"/><arg type="s"/><arg type="v"/></signal>
        </interface></node>
        """

    private let bus: OpaquePointer
    private let owner: guint
    private let registration: guint

    init() throws {
        bus = try XCTUnwrap(g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil))
        let node = try XCTUnwrap(g_dbus_node_info_new_for_xml(Self.description, nil))
        defer { g_dbus_node_info_unref(node) }
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, _, _, invocation, _ in
            // Like the real portal, return a variant within a variant.
            g_dbus_method_invocation_return_value(
                invocation,
                SettingsPortal.tuple([g_variant_new_variant(g_variant_new_variant(g_variant_new_string("12h")))]))
        }
        registration = g_dbus_connection_register_object(
            bus, Self.path, node.pointee.interfaces[0], &table, nil, nil, nil)
        owner = g_bus_own_name_on_connection(
            bus, Self.name, GBusNameOwnerFlags(rawValue: 0), nil, nil, nil, nil)
    }

    func change(_ schema: String, _ key: String, _ value: String) {
        g_dbus_connection_emit_signal(
            bus, nil, Self.path, Self.interface, "SettingChanged",
            Self.tuple([
                g_variant_new_string(schema), g_variant_new_string(key),
                g_variant_new_variant(g_variant_new_string(value)),
            ]), nil)
    }

    func close() {
        g_bus_unown_name(owner)
        g_dbus_connection_unregister_object(bus, registration)
        g_object_unref(UnsafeMutableRawPointer(bus))
    }

    private nonisolated static func tuple(_ values: [OpaquePointer?]) -> OpaquePointer? {
        g_variant_new_tuple(values, gsize(values.count))
    }
}
