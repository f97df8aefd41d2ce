import CGtk
import ChatArchive
import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk

/// Export and import in the window, over a real store.
final class TransferTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.TransferTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    @MainActor
    private static func open(_ fixture: ChatFixture) -> MainWindow {
        fixture.coordinator.archive = RoomArchive(source: fixture.backend, destination: fixture.backend)
        let window = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
        window.present()
        _ = MainLoop.pump { window.window.isMapped && window.window.width > 0 }
        return window
    }

    func testAnImportShowsItsReportAndTheRoom() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom()
            let window = Self.open(fixture)
            let file = fixture.folder.path("result.json")
            let text = """
                {"name": "Bike <Club>", "type": "private_group", "id": 1, "messages": [
                {"id": 1, "type": "service", "action": "create_group", "date_unixtime": "1682928000"},
                {"id": 2, "type": "message", "date_unixtime": "1682928060", "from": "Ann", "from_id": "user11", "text": "Hello"}]}
                """
            try Data(text.utf8).write(to: file)
            guard let dialog = window.transfer(.import(file)) else { return XCTFail("no dialog") }
            XCTAssertTrue(MainLoop.pump { dialog.headingText == "Conversations Were Imported" }, dialog.headingText)
            XCTAssertTrue(dialog.reportText.contains("1 × event that is no message (create_group)"), dialog.reportText)
            XCTAssertTrue(dialog.bodyText.contains("1 message"), dialog.bodyText)
            try RealInput.activate(dialog.window)
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump { fixture.coordinator.rooms.state.selectedRow?.name == "Bike <Club>" }, "it is open")
            window.close()
            _ = MainLoop.pump { !window.window.isMapped }
            try fixture.close()
        }
    }

    func testABrokenFileIsToldAndADialogIsFinalised() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom()
            let window = Self.open(fixture)
            let file = fixture.folder.path("result.json")
            try Data(#"{"name": "x", "type": "y", "messages": [{"id""#.utf8).write(to: file)
            let closures = ClosureCount.live
            var isFinal = false
            try Self.fail(window, file) { isFinal = true }
            XCTAssertTrue(MainLoop.pump { isFinal }, "the dialog is finalised")
            XCTAssertTrue(
                MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures) closures")
            window.close()
            _ = MainLoop.pump { !window.window.isMapped }
            try fixture.close()
        }
    }

    @MainActor
    private static func fail(_ window: MainWindow, _ file: URL, onFinalize: @escaping () -> Void) throws {
        guard let dialog = window.transfer(.import(file)) else { return XCTFail("no dialog") }
        XCTAssertTrue(MainLoop.pump { dialog.headingText == "Nothing Was Imported" }, dialog.headingText)
        XCTAssertTrue(dialog.bodyText.contains("ends in the middle"), dialog.bodyText)
        dialog.window.onFinalize(onFinalize)
        try RealInput.activate(dialog.window)
        try RealInput.press("Escape")
        XCTAssertTrue(MainLoop.pump { !dialog.window.isMapped })
    }

    func testAnExportIsWritten() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            let (backend, room) = (fixture.backend, conversation.roomID)
            try finish {
                _ = try await backend.send(
                    OutgoingMessage(transactionID: TransactionID("1"), text: "Hello *you*"), to: room)
            }
            let window = Self.open(fixture)
            let target = fixture.folder.path("out")
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            guard let dialog = window.transfer(.export(room, name: "Plans", .html, into: target)) else {
                return XCTFail("no dialog")
            }
            XCTAssertTrue(MainLoop.pump { dialog.headingText == "The Room Was Exported" }, dialog.headingText)
            let page = String(
                decoding: try Data(contentsOf: target.appending(path: "Plans/messages.html")), as: UTF8.self)
            XCTAssertTrue(page.contains("Hello <em>you</em>"), page)
            gtk_window_close(dialog.window.cast())
            window.close()
            _ = MainLoop.pump { !window.window.isMapped }
            try fixture.close()
        }
    }
}
