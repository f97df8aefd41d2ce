import CGtk
import ChatArchive
import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// Export and import in the main window, over a real store.
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
        let window = MainWindow(application: application, coordinator: fixture.coordinator, settings: nil)
        window.present()
        _ = MainLoop.pump { window.window.isMapped && window.window.width > 0 }
        return window
    }

    func testImportShowsItsReportAndOpensTheRoom() throws {
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
            guard let dialog = window.transfers.start(.import(file)) else { return XCTFail("no dialog") }
            XCTAssertTrue(MainLoop.pump { dialog.headingText == "Chat History Imported" }, dialog.headingText)
            XCTAssertTrue(dialog.reportText.contains("1 × unsupported event (create_group)"), dialog.reportText)
            XCTAssertTrue(dialog.bodyText.contains("1 message"), dialog.bodyText)
            try RealInput.activate(dialog.widget)
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump { fixture.coordinator.rooms.state.selectedRow?.name == "Bike <Club>" }, "it is open")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// The dialog by keys alone: Return merges, Tab reaches the other responses, Escape changes nothing.
    func testRepeatedImportAsksHowToProceed() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom()
            let window = Self.open(fixture)
            let file = fixture.folder.path("result.json")
            let rooms = fixture.coordinator.rooms
            @MainActor func bring(_ count: Int, _ keys: [String]) throws -> TransferDialog? {
                let messages = (1...count).map {
                    #"{"id": \#($0), "type": "message", "date_unixtime": "168292806\#($0)", "from": "Ann", "text": "Hi"}"#
                }
                let list = messages.joined(separator: ",")
                try Data(#"{"name": "Bikes", "type": "x", "id": 1, "messages": [\#(list)]}"#.utf8).write(to: file)
                let dialog = window.transfers.start(.import(file))
                guard let dialog, !keys.isEmpty else { return dialog }
                XCTAssertTrue(
                    MainLoop.pump { dialog.headingText == "“Bikes” Has Already Been Imported" }, dialog.headingText)
                XCTAssertTrue(MainLoop.pump { dialog.choiceButtons.allSatisfy(\.isMapped) })
                try RealInput.activate(dialog.widget)
                for key in keys { try RealInput.press(key) }
                return dialog
            }
            @MainActor func count() -> Int { rooms.state.rows.count { $0.name == "Bikes" } }
            @MainActor func dismiss(_ dialog: TransferDialog?, _ heading: String) throws {
                guard let dialog else { return XCTFail("no dialog") }
                XCTAssertTrue(MainLoop.pump { dialog.headingText == heading }, dialog.headingText)
                try RealInput.activate(dialog.widget)
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
            }
            let done = "Chat History Imported"
            try dismiss(bring(2, []), done)
            XCTAssertTrue(MainLoop.pump { count() == 1 })
            let merged = try bring(3, ["Return"])
            XCTAssertTrue(MainLoop.pump { merged?.headingText == done })
            XCTAssertEqual(merged?.bodyText, "1 room, 1 message")
            try dismiss(merged, done)
            XCTAssertEqual(count(), 1)
            try dismiss(bring(4, ["Escape"]), "Canceled")
            XCTAssertEqual(count(), 1)
            try dismiss(bring(4, ["shift+Tab", "Return"]), done)
            XCTAssertTrue(MainLoop.pump { count() == 2 }, "a room beside it")
            try window.finishClosing()
            try fixture.close()
        }
    }

    /// An import creates local rooms, even while an account is selected.
    func testImportSwitchesToTheLocalAccount() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom()
            let other = try ChatFixture()
            let service = SingleAccount()
            let accounts = AccountsCoordinator(local: fixture.coordinator, service: service) { [weak other] _, _ in
                other?.coordinator
            }
            accounts.start(showing: SingleAccount.id)
            XCTAssertTrue(MainLoop.pump { accounts.selection == SingleAccount.id })
            let window = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            window.present()
            XCTAssertTrue(MainLoop.pump { window.window.isMapped && window.window.width > 0 })
            let file = fixture.folder.path("result.json")
            let text = """
                {"name": "Bikes", "type": "private_group", "id": 1, "messages": [
                {"id": 2, "type": "message", "date_unixtime": "1682928060", "from": "Ann", "from_id": "u1", "text": "Hi"}]}
                """
            try Data(text.utf8).write(to: file)
            guard let dialog = window.transfers.start(.import(file)) else { return XCTFail("no dialog") }
            XCTAssertTrue(MainLoop.pump { dialog.headingText == "Chat History Imported" }, dialog.headingText)
            try RealInput.activate(dialog.widget)
            try RealInput.press("Return")
            XCTAssertTrue(
                MainLoop.pump {
                    accounts.selection == AccountsCoordinator.localID
                        && fixture.coordinator.rooms.state.selectedRow?.name == "Bikes"
                })
            try window.finishClosing()
            try other.close()
            try fixture.close()
        }
    }

    func testMalformedFileIsReportedAndTheDialogIsFinalized() throws {
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
            try window.finishClosing()
            try fixture.close()
        }
    }

    @MainActor
    private static func fail(_ window: MainWindow, _ file: URL, onFinalize: @escaping () -> Void) throws {
        guard let dialog = window.transfers.start(.import(file)) else { return XCTFail("no dialog") }
        XCTAssertTrue(
            MainLoop.pump { dialog.headingText == "Could Not Import “result.json”" }, dialog.headingText)
        XCTAssertTrue(dialog.bodyText.contains("file is incomplete"), dialog.bodyText)
        dialog.widget.onFinalize(onFinalize)
        try RealInput.activate(dialog.widget)
        try RealInput.press("Escape")
        XCTAssertTrue(MainLoop.pump { !dialog.widget.isMapped })
    }

    func testExportWritesTheRoom() throws {
        try onMain {
            let fixture = try ChatFixture()
            let conversation = try fixture.openRoom(named: "Plans")
            let (backend, room) = (fixture.backend, conversation.roomID)
            try finish {
                _ = try await backend.send(
                    WrittenMessage("Hello *you*"), as: TransactionID("1"), to: room)
            }
            let window = Self.open(fixture)
            let target = fixture.folder.path("out")
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
            guard let dialog = window.transfers.start(.export(room, name: "Plans", .html, into: target)) else {
                return XCTFail("no dialog")
            }
            XCTAssertTrue(MainLoop.pump { dialog.headingText == "Room Exported" }, dialog.headingText)
            let page = String(
                decoding: try Data(contentsOf: target.appending(path: "Plans/messages.html")), as: UTF8.self)
            XCTAssertTrue(page.contains("Hello <em>you</em>"), page)
            dialog.widget.close()
            try window.finishClosing()
            try fixture.close()
        }
    }
}
