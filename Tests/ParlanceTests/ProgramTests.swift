import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import XCTest

/// End-to-end tests of the application: its window, keyboard input and termination.
final class ProgramTests: XCTestCase {
    /// A message typed with real keys and sent is still there after `kill -9` and a restart.
    func testSentMessageAndDraftSurviveKill() throws {
        let first = try ParlanceProcess()
        try first.waitForWindow()
        try first.type("Kept for good")
        try first.press("Return")
        _ = try first.until("an empty composer") { try first.copyComposerText() != "Kept for good" ? true : nil }
        try first.type("Half a draft")
        try first.press("Left", "Left")
        // Drafts are saved 0.3 s after the first change; poll the database files.
        let written = try first.until("the draft on the disk") { try Self.draftIsStored(first.store) ? true : nil }
        XCTAssertTrue(written)
        first.kill()

        let second = try ParlanceProcess(home: first.home)
        try second.waitForWindow()
        _ = try second.until("the draft in the composer") {
            try second.copyComposerText() == "Half a draft" ? true : nil
        }
        try second.press("BackSpace", "Up")
        let found = try second.until("the sent message") {
            let text = try second.copyComposerText()
            return text == "Kept for good" ? text : nil
        }
        XCTAssertEqual(found, "Kept for good")
        second.kill()
    }

    func testCaretOfTheDraftSurvivesKill() throws {
        let first = try ParlanceProcess()
        try first.waitForWindow()
        try first.type("abcd")
        try first.press("Left", "Left")
        _ = try first.until("the draft on the disk") {
            try Self.draftIsStored(first.store, holding: #""location":2"#) ? true : nil
        }
        first.kill()
        let second = try ParlanceProcess(home: first.home)
        try second.waitForWindow()
        try second.type("X")
        _ = try second.until("the text with what was typed at the caret") {
            try second.copyComposerText() == "abXcd" ? true : nil
        }
        second.kill()
    }

    /// Loading libraries makes the start slower; these are loaded with the first file, sound, account or code that
    /// needs them.
    func testWindowNeedsNoLibraryOfWhatIsNotUsedYet() throws {
        let program = try ParlanceProcess()
        try program.waitForWindow()
        let libraries = try program.libraries()
        XCTAssertTrue(libraries.contains { $0.hasPrefix("libgtk-4.so") }, "\(libraries)")
        for name in ["libarchive", "libcurl", "libenchant", "libgtksourceview", "libpulse", "libsecret"] {
            XCTAssertFalse(libraries.contains { $0.hasPrefix(name) }, "\(name) is loaded")
        }
        program.kill()
    }

    func testSecondLaunchActivatesTheFirst() throws {
        let first = try ParlanceProcess()
        try first.waitForWindow()
        let second = try ParlanceProcess(home: first.home)
        XCTAssertEqual(second.waitForEnd().status, 0)
        XCTAssertTrue(first.isRunning)
        first.kill()
    }

    /// Return activates the first choice, and keys typed after that go to the guide's composer.
    func testFirstStartBeginsOnThisComputerByReturn() throws {
        let first = try ParlanceProcess(home: TemporaryFolder())
        try first.waitForWindow()
        _ = try first.until("the composer") {
            try first.press("Return", "x")
            let isOpen = try first.copyComposerText().hasSuffix("x")
            return isOpen ? true : nil
        }
        first.kill()
        // The next start is not a first start.
        let second = try ParlanceProcess(home: first.home)
        try second.waitForWindow()
        _ = try second.until("the composer") {
            try second.press("End", "y")
            return try second.copyComposerText().hasSuffix("y") ? true : nil
        }
        second.kill()
    }

    func testQuitExitsCleanly() throws {
        let parlance = try ParlanceProcess()
        try parlance.waitForWindow()
        try parlance.press("ctrl+q")
        let end = parlance.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    func testQuitOptionEndsTheRunningInstance() throws {
        let first = try ParlanceProcess()
        try first.waitForWindow()
        XCTAssertEqual(try ParlanceProcess(arguments: ["--quit"], home: first.home).waitForEnd().status, 0)
        XCTAssertEqual(first.waitForEnd().status, 0)
    }

    func testQuitOptionStartsNothing() throws {
        let end = try ParlanceProcess(arguments: ["--quit"], home: TemporaryFolder())
        XCTAssertEqual(end.waitForEnd().status, 0)
        XCTAssertFalse(FileManager.default.fileExists(atPath: end.store.path))
    }

    func testClosingTheWindowEndsTheProgramThatMayNotStay() throws {
        let parlance = try ParlanceProcess(settings: "run-in-background='no'")
        try parlance.waitForWindow()
        try parlance.press("ctrl+w")
        let end = parlance.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    /// The main menu has Quit only where closing the window does not end the program.
    func testMenuQuitsTheProgramThatMayStay() throws {
        let parlance = try ParlanceProcess(settings: "run-in-background='no'")
        try parlance.waitForWindow()
        XCTAssertFalse(try parlance.isEnabled("quit-from-menu"))
        XCTAssertTrue(try parlance.isEnabled("quit"), "by its key")
        try parlance.write(settings: "run-in-background='yes'")
        _ = try parlance.until("Quit in the menu") { try parlance.isEnabled("quit-from-menu") ? true : nil }
        try parlance.activate("quit-from-menu")
        let end = parlance.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    func testFirstClosingAsksWhetherToRunInTheBackground() throws {
        let first = try ParlanceProcess(settings: "")
        try first.waitForWindow()
        try first.press("ctrl+w")
        try first.waitForDialog()
        try first.press("Escape")
        // The question may be there still, and would be the window that is waited for.
        _ = try first.until("the window alone") { first.windowCount == 1 ? true : nil }
        try first.waitForWindow()
        try first.press("ctrl+w")
        try first.waitForDialog()
        try first.press("Return")
        _ = try first.until("no window") { first.hasWindow ? nil : true }
        let changes = ["GSETTINGS_BACKEND": "keyfile"]
        XCTAssertEqual(try ParlanceProcess(home: first.home, changes: changes).waitForEnd().status, 0)
        try first.waitForWindow()
        try first.press("ctrl+w")
        _ = try first.until("no window") { first.hasWindow ? nil : true }
        XCTAssertTrue(first.isRunning)
        let quitting = try ParlanceProcess(arguments: ["--quit"], home: first.home, changes: changes)
        XCTAssertEqual(quitting.waitForEnd().status, 0)
        XCTAssertEqual(first.waitForEnd().status, 0)
    }

    func testStartAtLoginCorrectsTheCommandOfTheAutostartFile() throws {
        let parlance = try ParlanceProcess(
            settings: "start-at-login=true\nrun-in-background='yes'",
            autostart: "[Desktop Entry]\nName=Mine\nExec=/opt/old/parlance --gapplication-service\nHidden=false\n")
        try parlance.waitForWindow()
        let corrected =
            "[Desktop Entry]\nName=Mine\nExec=\(ParlanceProcess.program.path) --gapplication-service\nHidden=false\n"
        _ = try parlance.until("the corrected file") { parlance.autostart == corrected ? true : nil }
        try parlance.press("ctrl+q")
        XCTAssertEqual(parlance.waitForEnd().errors, "")
    }

    func testWindowIsClosedAndOpenedAgainWhereTheProgramMayRunInTheBackground() throws {
        let first = try ParlanceProcess(settings: "run-in-background='yes'")
        let (home, changes) = (first.home, ["GSETTINGS_BACKEND": "keyfile"])
        try first.waitForWindow()
        try first.type("Half a draft")
        try first.press("ctrl+w")
        _ = try first.until("no window") { first.hasWindow ? nil : true }
        XCTAssertEqual(try ParlanceProcess(home: home, changes: changes).waitForEnd().status, 0)
        try first.waitForWindow()
        _ = try first.until("the draft") { try first.copyComposerText() == "Half a draft" ? true : nil }
        try first.press("ctrl+z", "End", "x")
        _ = try first.until("a text without what was undone") {
            let text = try first.copyComposerText()
            return text.hasSuffix("x") && text != "Half a draftx" ? true : nil
        }
        try first.press("ctrl+w")
        _ = try first.until("no window") { first.hasWindow ? nil : true }
        let quitting = try ParlanceProcess(arguments: ["--quit"], home: home, changes: changes)
        XCTAssertEqual(quitting.waitForEnd().status, 0)
        XCTAssertEqual(first.waitForEnd().status, 0)
    }

    /// Quit closes all windows, which are restored at the next start; Ctrl+W closes one for good.
    func testRoomWindowComesBackAfterARestart() throws {
        for changes in [["GSETTINGS_BACKEND": "keyfile"], ["GSETTINGS_SCHEMA_DIR": "/nonexistent"]] {
            let first = try ParlanceProcess(arguments: ["--room", "Notes"], changes: changes)
            try first.waitForWindow()
            try first.type("In Notes")
            try first.openWindow(named: "Notes")
            try first.press("End")
            try first.type(", alone")
            try first.press("ctrl+q")
            XCTAssertEqual(first.waitForEnd().status, 0)

            let second = try ParlanceProcess(home: first.home, changes: changes)
            _ = try second.until("both windows") { second.windowCount == 2 ? true : nil }
            try second.focusWindow(named: "Notes")
            _ = try second.until("the draft") { try second.copyComposerText() == "In Notes, alone" ? true : nil }
            try second.press("ctrl+w")
            _ = try second.until("the main window alone") { second.windowCount == 1 ? true : nil }
            try second.focusWindow(named: "Parlance")
            _ = try second.until("the draft in the main window") {
                try second.copyComposerText() == "In Notes, alone" ? true : nil
            }
            try second.press("ctrl+q")
            XCTAssertEqual(second.waitForEnd().status, 0)

            let third = try ParlanceProcess(home: first.home, changes: changes)
            try third.waitForWindow()
            _ = try third.until("the draft") { try third.copyComposerText() == "In Notes, alone" ? true : nil }
            // Titles, not a count: the toolbar of a selection is a window, too.
            XCTAssertFalse(third.windowTitles.contains("Notes"))
            third.kill()
        }
    }

    func testProgramEndsWithItsLastWindowWhicheverThatIs() throws {
        let parlance = try ParlanceProcess(settings: "run-in-background='no'")
        try parlance.waitForWindow()
        try parlance.openWindow(named: "Welcome")
        try parlance.focusWindow(named: "Parlance")
        try parlance.press("ctrl+w")
        _ = try parlance.until("the room's window alone") { parlance.windowCount == 1 ? true : nil }
        try parlance.focusWindow(named: "Welcome")
        try parlance.type("Still here")
        _ = try parlance.until("what was typed") { try parlance.copyComposerText() == "Still here" ? true : nil }
        try parlance.press("ctrl+w")
        let end = parlance.waitForEnd()
        XCTAssertEqual(end.status, 0)
        XCTAssertEqual(end.errors, "")
    }

    func testRoomOptionOpensTheRoomAtTheStartAndInTheRunningInstance() throws {
        let first = try ParlanceProcess(arguments: ["--room", "notes"])
        try first.waitForWindow()
        try first.type("In Notes")
        // Welcome is what opens without the option, so its composer differs only if Notes was open.
        for (room, text) in [("Welcome", ""), ("Notes", "In Notes")] {
            let other = try ParlanceProcess(arguments: ["--room=\(room)"], home: first.home)
            XCTAssertEqual(other.waitForEnd().status, 0)
            _ = try first.until("the composer of \(room)") {
                try first.press("End", "x")
                let isOpen = try first.copyComposerText() == text + "x"
                try first.press("BackSpace")
                return isOpen ? true : nil
            }
        }
        first.kill()
    }

    func testUnknownOptionPrintsOneLineAndExitsWithOne() throws {
        let end = try ParlanceProcess(arguments: ["--no-such-option"]).waitForEnd()
        XCTAssertEqual(end.status, 1)
        XCTAssertEqual(end.errors.split(separator: "\n").count, 1, end.errors)
        XCTAssertTrue(end.errors.contains("--no-such-option"), end.errors)
    }

    func testVersionAndHelpArePrinted() throws {
        XCTAssertTrue(try ParlanceProcess.tool(ParlanceProcess.program.path, "--version").hasPrefix("Parlance "))
        XCTAssertTrue(try ParlanceProcess.tool(ParlanceProcess.program.path, "--help").contains("--version"))
    }

    /// The program finds the catalogs that `make run` and `make test` compile.
    func testProgramSpeaksTheLanguageOfTheUser() throws {
        let catalog = try String(contentsOfFile: "po/de.po", encoding: .utf8)
        let german = try XCTUnwrap(
            catalog.firstMatch(of: /msgid "Print the version and exit"\nmsgstr "(.+)"/), "translated in po/de.po")
        let help = try ParlanceProcess.tool("LC_ALL=C.UTF-8", "LANGUAGE=de", ParlanceProcess.program.path, "--help")
        XCTAssertTrue(help.contains(german.1), help)
    }

    /// A failed start shows a dialog, and writes one line to standard error for users of a terminal.
    func testUnwritableDataFolderShowsADialogAndExitsWithOne() throws {
        let home = TemporaryFolder()
        let file = home.url.appending(path: "a-file")
        try Data().write(to: file)
        let parlance = try ParlanceProcess(home: home, data: file.path)
        try parlance.waitForWindow()
        try parlance.press("Return")
        let end = parlance.waitForEnd()
        XCTAssertEqual(end.status, 1)
        // libadwaita logs a message of its own for dialogs without a parent window.
        let lines = end.errors.split(separator: "\n").filter { !$0.hasPrefix("Adwaita-Message") }
        XCTAssertEqual(lines.count, 1, end.errors)
        XCTAssertTrue(end.errors.contains(file.path), end.errors)
    }

    func testNewerDatabaseShowsADialog() throws {
        let first = try ParlanceProcess()
        try first.waitForWindow()
        try first.press("ctrl+q")
        XCTAssertEqual(first.waitForEnd().status, 0)
        let database = first.store.appending(path: Self.databaseName).path
        try ParlanceProcess.tool(
            "python3", "-c",
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('PRAGMA user_version = 99').connection.commit()",
            database)
        let second = try ParlanceProcess(home: first.home)
        try second.waitForWindow()
        try second.press("Escape")
        let end = second.waitForEnd()
        XCTAssertEqual(end.status, 1)
        XCTAssertTrue(end.errors.contains("newer Parlance"), end.errors)
    }

    /// With stored settings, and without the settings schema installed.
    func testLastOpenRoomIsReopenedAfterKill() throws {
        for changes in [["GSETTINGS_BACKEND": "keyfile"], ["GSETTINGS_SCHEMA_DIR": "/nonexistent"]] {
            let first = try ParlanceProcess(changes: changes)
            try first.waitForWindow()
            try first.press("alt+Down")
            try first.type("In the second room")
            _ = try first.until("the draft on the disk") {
                try Self.draftIsStored(first.store, holding: "In the second room") ? true : nil
            }
            first.kill()
            let second = try ParlanceProcess(home: first.home, changes: changes)
            try second.waitForWindow()
            _ = try second.until("the room that was open") {
                try second.copyComposerText() == "In the second room" ? true : nil
            }
            second.kill()
            let said = second.waitForEnd().errors
            XCTAssertEqual(said.contains("settings schema"), changes["GSETTINGS_SCHEMA_DIR"] != nil, said)
            // Ignore warnings of GTK and GDK.
            XCTAssertLessThanOrEqual(said.split(separator: "\n").count { $0.hasPrefix("parlance:") }, 1, said)
        }
    }

    func testDamagedDatabaseIsRepairedAndBackedUp() throws {
        let home = TemporaryFolder()
        let store = home.url.appending(path: "data/parlance")
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        let damage = Data("this is no database, whatever its name says".utf8)
        try damage.write(to: store.appending(path: Self.databaseName))
        let parlance = try ParlanceProcess(home: home)
        try parlance.waitForWindow()
        // Return activates the default button: repair and continue.
        try parlance.press("Return")
        _ = try parlance.until("the window after it") {
            // The tool fails while there is no such window.
            let names = try? ParlanceProcess.tool("xdotool", "search", "--onlyvisible", "--name", "^Parlance$")
            return names?.isEmpty == false ? true : nil
        }
        let kept = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
            .filter { $0.hasPrefix("parlance-damaged") }
        XCTAssertEqual(kept.count, 1)
        let moved = store.deletingLastPathComponent().appending(path: kept.first ?? "").appending(
            path: Self.databaseName)
        XCTAssertEqual(try Data(contentsOf: moved), damage)
        parlance.kill()
    }

    /// The store of an account is repaired without a question.
    func testRepairOfAnAccountIsReportedOnce() throws {
        let account = Account(
            id: "@ann:example.org", kind: "matrix", server: "https://127.0.0.1:9", device: "D", name: "Ann")
        let home = try ParlanceProcess.usedHome { try await $0.saveAccount(account) }
        let store = AccountFolders(root: home.url.appending(path: "data/parlance-accounts")).store(of: account.id)
        try FileManager.default.createDirectory(at: store, withIntermediateDirectories: true)
        try Data("this is no database, whatever its name says".utf8).write(to: store.appending(path: Self.databaseName))
        let first = try ParlanceProcess(home: home)
        // The window itself may never have the focus: the dialog can be there first.
        try first.waitForDialog()
        let names = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
        XCTAssertEqual(names.count { $0.hasPrefix("store-damaged-") }, 1)
        _ = try first.until("the window alone") { () -> Bool? in
            if first.windowCount == 1 { return true }
            try first.press("Return")
            return nil
        }
        first.kill()

        let second = try ParlanceProcess(home: home)
        try second.waitForWindow()
        try second.type("Nothing is in the way")
        _ = try second.until("the text in the composer") {
            try second.copyComposerText() == "Nothing is in the way" ? true : nil
        }
        // The selection may have a popover, which counts as a window.
        try second.press("Right")
        _ = try second.until("the window alone") { second.windowCount == 1 ? true : nil }
        second.kill()
    }

    // MARK: The store's files

    private static let databaseName = "chat.sqlite"

    /// Whether a database file or its write-ahead log contains a draft: SQLite stores text verbatim in its pages.
    private static func draftIsStored(_ store: URL, holding text: String = "Half a draft") throws -> Bool {
        // The store or a file in it may not exist yet: the caller repeats this.
        let files = (try? FileManager.default.contentsOfDirectory(atPath: store.path)) ?? []
        return files.contains { name in
            (try? Data(contentsOf: store.appending(path: name)))?.range(of: Data(text.utf8)) != nil
        }
    }
}
