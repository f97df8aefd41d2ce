import CGtk
import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import GtkKit
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit

/// Rooms in windows of their own, next to the main window, over a real store.
final class RoomWindowTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.RoomWindowTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        application.setKeys(["<Control>k"], for: "win.switch-room")
        application.setKeys(["<Control>n"], for: "win.new-room")
        return application
    }()

    /// The main window and the room windows of a fixture.
    @MainActor
    private final class Program {
        let fixture: ChatFixture
        let coordinator: ConversationCoordinator
        let accounts: AccountsCoordinator
        private(set) var main: MainWindow?
        private(set) var rooms: RoomWindows?
        private(set) var stored: StoredRoomWindows
        private(set) var closedCount = 0

        init(
            _ fixture: ChatFixture, stored: StoredRoomWindows = StoredRoomWindows(),
            encryption: FakeEncryptionService? = nil
        ) {
            self.fixture = fixture
            self.stored = stored
            coordinator =
                encryption.map {
                    ConversationCoordinator(ConversationEnvironment(service: fixture.backend, encryption: $0))
                } ?? fixture.coordinator
            accounts = AccountsCoordinator(local: coordinator)
        }

        func open() {
            let main = MainWindow(application: application, accounts: accounts, settings: nil)
            self.main = main
            main.onClosed = { [weak self] in self?.main = nil }
            main.present()
            guard rooms == nil else { return }
            rooms = RoomWindows(
                application: application, accounts: accounts, settings: nil, stored: stored,
                outputs: RoomWindows.Outputs(
                    mayClose: { _, _ in true }, closing: {}, closed: { [weak self] in self?.closedCount += 1 },
                    withMainWindow: { [weak self] in if let main = self?.main { $0(main) } },
                    updateMainWindow: { [weak self] in self?.main?.update() }, restored: {},
                    store: { [weak self] in self?.stored = $0 }))
        }

        func window(of room: RoomID) throws -> RoomWindow {
            let id = AccountRoom(AccountsCoordinator.localID, room)
            guard MainLoop.pump(until: { [self] in rooms?.windows[id]?.window.isMapped == true }),
                let window = rooms?.windows[id]
            else { throw TimedOut() }
            return window
        }

        /// Opens a room's window, and waits until it is there.
        func openWindow(of room: RoomID) throws -> RoomWindow {
            coordinator.openWindow(of: room)
            return try window(of: room)
        }

        func close() throws {
            main?.close()
            rooms?.closeAll()
            guard MainLoop.pump(until: { [self] in main == nil && rooms?.isEmpty == true }) else { throw TimedOut() }
            rooms = nil
            try fixture.close()
        }
    }

    /// A program, and the room "Plans" of it in a window of its own.
    private typealias Opened = (program: Program, room: RoomID, window: RoomWindow)

    /// Opens both windows.
    /// - Parameter other: another room to make before.
    @MainActor
    private static func opened(_ fixture: ChatFixture, besides other: String? = nil) throws -> Opened {
        let program = Program(fixture)
        if let other { _ = try fixture.openRoom(named: other) }
        let room = try fixture.openRoom(named: "Plans").roomID
        program.open()
        return (program, room, try program.openWindow(of: room))
    }

    /// Opens the main window, and the first room in a window of its own, of an account that encrypts.
    @MainActor
    private static func opened(encryptingBy service: FakeEncryptionService) throws -> Opened {
        let program = Program(try ChatFixture(), encryption: service)
        let coordinator = program.coordinator
        coordinator.start(opening: nil)
        program.open()
        guard MainLoop.pump(until: { coordinator.rooms.state.rows.count == 2 }),
            let room = coordinator.rooms.state.rows.first?.id
        else { throw TimedOut() }
        return (program, room, try program.openWindow(of: room))
    }

    @MainActor
    private static func focusedComposer(_ window: RoomWindow) -> Bool {
        window.window.isActive && window.view.composerHasFocus
    }

    func testRoomOpensInItsWindowByTheKeyOfTheListAndIsWrittenIn() throws {
        try onMain {
            let program = try Program(ChatFixture())
            let room = try program.fixture.openRoom(named: "Plans").roomID
            program.open()
            let main = try XCTUnwrap(program.main)
            try RealInput.activate(main.window)
            main.sidebar.roomList.grabFocus()
            try RealInput.press("ctrl+Return")
            let window = try program.window(of: room)
            XCTAssertTrue(MainLoop.pump { Self.focusedComposer(window) })
            XCTAssertEqual(window.window.title, "Plans")
            XCTAssertTrue(MainLoop.pump { main.content.openWindowPage != nil && main.content.conversationView == nil })
            try RealInput.type("in the window")
            try RealInput.press("Return")
            let texts = { window.window.descendants.compactMap { BodyText.of($0)?.text } }
            XCTAssertTrue(MainLoop.pump { texts().contains("in the window") }, "\(texts())")
            // Activating the row presents the room's window.
            try RealInput.activate(main.window)
            main.sidebar.roomList.grabFocus()
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { Self.focusedComposer(window) || window.window.isActive })
            try program.close()
        }
    }

    func testClosingTheWindowByItsKeyShowsTheRoomInTheMainWindowAgain() throws {
        try onMain {
            let (program, room, window) = try Self.opened(ChatFixture())
            XCTAssertTrue(MainLoop.pump { Self.focusedComposer(window) })
            try RealInput.type("draft")
            gtk_window_set_default_size(window.window.cast(), 500, 400)
            // The width without the shadow.
            XCTAssertTrue(MainLoop.pump { (460...500).contains(window.window.width) })
            XCTAssertEqual(program.stored.open.map(\.room), [room])
            window.window.closeWindow()
            XCTAssertTrue(MainLoop.pump { program.rooms?.isEmpty == true })
            XCTAssertEqual(program.closedCount, 1)
            let view = { program.main?.content.conversationView }
            XCTAssertTrue(MainLoop.pump { view() != nil })
            XCTAssertEqual(program.fixture.coordinator.conversation?.composer.document.text, "draft")
            XCTAssertTrue(program.stored.open.isEmpty)
            XCTAssertEqual(
                program.stored.size(of: AccountRoom(AccountsCoordinator.localID, room)),
                StoredRoomWindows.Size(width: 500, height: 400))
            try program.close()
        }
    }

    func testWindowsThatQuitClosedComeBackInTheirSize() throws {
        try onMain {
            let fixture = try ChatFixture()
            let (first, room, window) = try Self.opened(fixture)
            gtk_window_set_default_size(window.window.cast(), 500, 400)
            // The width without the shadow.
            XCTAssertTrue(MainLoop.pump { (460...500).contains(window.window.width) })
            first.main?.close()
            first.rooms?.closeAll()
            XCTAssertTrue(MainLoop.pump { first.main == nil && first.rooms?.isEmpty == true })
            XCTAssertEqual(first.stored.open.map(\.room), [room])

            let second = try Program(ChatFixture(reopening: fixture), stored: StoredRoomWindows(first.stored.texts))
            second.fixture.coordinator.start(opening: nil)
            second.open()
            let restored = try second.window(of: room)
            XCTAssertEqual(restored.size, StoredRoomWindows.Size(width: 500, height: 400))
            try second.close()
        }
    }

    func testWindowAskedForWhileItClosesComesBack() throws {
        try onMain {
            let (program, room, window) = try Self.opened(ChatFixture())
            XCTAssertTrue(MainLoop.pump { Self.focusedComposer(window) })
            window.close()
            XCTAssertTrue(window.isClosing)
            program.fixture.coordinator.openWindow(of: room)
            XCTAssertTrue(MainLoop.pump { program.closedCount == 1 })
            let next = try program.window(of: room)
            XCTAssertTrue(next !== window && MainLoop.pump { Self.focusedComposer(next) })
            XCTAssertEqual(program.stored.open.map(\.room), [room])
            try program.close()
        }
    }

    /// Whether a dialog is in a window or in its own window over it.
    @MainActor
    private static func isOver(_ window: TopLevel, _ dialog: Dialog?) -> Bool {
        guard let own = dialog?.window else { return false }
        if own.isSame(as: window) { return true }
        return gtk_window_get_transient_for(own.cast()).map { Widget(borrowing: $0).isSame(as: window) } == true
    }

    func testSwitcherAndNewRoomOpenOverTheRoomsWindow() throws {
        try onMain {
            let (program, _, window) = try Self.opened(ChatFixture(), besides: "Weather")
            let main = try XCTUnwrap(program.main)
            let rooms = program.coordinator.rooms
            let weather = try XCTUnwrap(rooms.state.rows.first { $0.name == "Weather" }).id
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { Self.focusedComposer(window) })
            try RealInput.press("ctrl+k")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.active?.title == "Switch Room" })
            XCTAssertTrue(Self.isOver(window.window, OpenDialogs.active))
            try RealInput.type("weath")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { main.content.conversationView != nil })
            XCTAssertEqual(program.fixture.coordinator.openItem, .room(weather))
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { window.window.isActive })
            try RealInput.press("ctrl+n")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.active != nil })
            XCTAssertTrue(Self.isOver(window.window, OpenDialogs.active))
            try RealInput.type("Garden")
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { rooms.state.selectedRow?.name == "Garden" })
            XCTAssertTrue(window.window.isMapped)
            try program.close()
        }
    }

    func testLeavingTheRoomClosesItsWindow() throws {
        try onMain {
            let (program, room, _) = try Self.opened(ChatFixture())
            program.coordinator.rooms.send(.leave(room))
            XCTAssertTrue(MainLoop.pump { program.rooms?.isEmpty == true })
            XCTAssertTrue(program.stored.open.isEmpty)
            XCTAssertTrue(MainLoop.pump { program.main?.content.openWindowPage == nil })
            try program.close()
        }
    }

    func testRoomWindowIsReadAndStaysWithoutTheMainWindow() throws {
        try onMain {
            let clock = ManualClock()
            let program = try Program(ChatFixture(time: Timekeeper(clock)))
            let coordinator = program.fixture.coordinator
            coordinator.start(opening: nil)
            XCTAssertTrue(MainLoop.pump { coordinator.conversation?.timeline.state.isLoaded == true })
            let room = try XCTUnwrap(coordinator.rooms.state.rows.first { $0.unreadCount > 0 }?.id)
            program.open()
            let window = try program.openWindow(of: room)
            program.main?.close()
            XCTAssertTrue(MainLoop.pump { program.main == nil })
            try RealInput.activate(window.window)
            let isRead = {
                clock.advance(by: .seconds(1))
                return coordinator.rooms.state.unreadTotal == 0
            }
            XCTAssertTrue(MainLoop.pump(until: isRead))
            XCTAssertEqual(program.accounts.attendedRoom?.room, room)
            XCTAssertTrue(window.window.isMapped)
            try program.close()
        }
    }

    /// A verification is shown where the user is, once: in the window that is active, or in one that is open.
    func testVerificationIsShownOverTheWindowInUse() throws {
        try onMain {
            let service = FakeEncryptionService()
            let (program, room, window) = try Self.opened(encryptingBy: service)
            let main = try XCTUnwrap(program.main)
            @MainActor func request(_ id: String, over parent: TopLevel, besides others: Int = 0) throws {
                service.set([
                    Verification(
                        id: id, user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)
                ])
                XCTAssertTrue(MainLoop.pump { Dialog.all.count == others + 1 }, id)
                XCTAssertTrue(Dialog.all.allSatisfy { $0.isOver(parent) }, id)
                _ = MainLoop.pump(forAtMost: 0.1) { false }
                XCTAssertEqual(Dialog.all.count, others + 1, id)
                service.set([] as [Verification])
                XCTAssertTrue(MainLoop.pump { Dialog.all.count == others }, id)
            }
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { program.accounts.attendedRoom?.room == room })
            try request("room", over: window.window)
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { program.accounts.attendedRoom?.room == room })
            let open = Dialog(title: "Open", width: 300, height: 200)
            open.setContent(Label("open"))
            open.present(over: window.window)
            XCTAssertTrue(MainLoop.pump { open.isMapped })
            try RealInput.activate(open)
            XCTAssertTrue(MainLoop.pump { program.accounts.attendedRoom == nil })
            try request("over a dialog in the room", over: window.window, besides: 1)
            open.close()
            XCTAssertTrue(MainLoop.pump { Dialog.all.isEmpty })
            try RealInput.activate(main.window)
            XCTAssertTrue(MainLoop.pump { main.window.isActive && !window.window.isActive })
            try request("main", over: main.window)
            main.close()
            program.accounts.detachWindow()
            XCTAssertTrue(MainLoop.pump { program.main == nil })
            try request("room alone", over: window.window)
            try program.close()
        }
    }

    /// A window that closes does not answer: the verification goes on over a window that stays.
    func testVerificationOfAClosedWindowIsShownOverTheOther() throws {
        try onMain {
            let service = FakeEncryptionService()
            let (program, room, window) = try Self.opened(encryptingBy: service)
            let main = try XCTUnwrap(program.main)
            @MainActor func isShown(over parent: TopLevel) -> Bool {
                MainLoop.pump { Dialog.all.count == 1 && Dialog.all.first?.isOver(parent) == true }
            }
            try RealInput.activate(window.window)
            XCTAssertTrue(MainLoop.pump { program.accounts.attendedRoom?.room == room })
            service.set([
                Verification(
                    id: "v", user: MemberID("@bo:example.org"), isOwn: false, isIncoming: true, phase: .requested)
            ])
            XCTAssertTrue(isShown(over: window.window))
            window.close()
            XCTAssertTrue(isShown(over: main.window))
            XCTAssertTrue(MainLoop.pump { program.rooms?.isEmpty == true })
            let next = try program.openWindow(of: room)
            XCTAssertTrue(isShown(over: main.window), "it does not move while its window is open")
            main.close()
            XCTAssertTrue(MainLoop.pump { program.main == nil })
            XCTAssertTrue(isShown(over: next.window))
            XCTAssertEqual(service.calls, [], "nobody has answered")
            service.set([] as [Verification])
            XCTAssertTrue(MainLoop.pump { Dialog.all.isEmpty })
            try program.close()
        }
    }

    /// Without the main window, nothing else says that some recipients may not see what is written here.
    func testWindowOfAnEncryptedRoomShowsWhatEncryptionNeeds() throws {
        try onMain {
            let service = FakeEncryptionService()
            let (program, room, opened) = try Self.opened(encryptingBy: service)
            let window = opened.window
            let conversation = try XCTUnwrap(program.coordinator.roomWindows.first)
            @MainActor func dialog(titled title: String) throws -> Dialog {
                XCTAssertTrue(MainLoop.pump { OpenDialogs.first(titled: title) != nil }, title)
                let dialog = try XCTUnwrap(OpenDialogs.first(titled: title))
                XCTAssertTrue(dialog.isOver(window), title)
                return dialog
            }
            service.set(EncryptionStatus(condition: .on, identity: .unconfirmed, recovery: .ready))
            XCTAssertTrue(MainLoop.pump { program.coordinator.encryption?.need == .confirmDevice })
            try finish { await waitUntilIdle() }
            XCTAssertNil(window.button("Confirm…"), "not encrypted")
            conversation.noteEncrypted()
            XCTAssertTrue(MainLoop.pump { window.button("Confirm…") != nil })
            XCTAssertTrue(window.visibleTexts.contains("This device is not confirmed"))
            try XCTUnwrap(window.button("Confirm…")).activate()
            let setUp = try dialog(titled: "Confirm This Device")
            setUp.close()
            XCTAssertTrue(MainLoop.pump { !setUp.isMapped })
            // The room's own warning asks for the same.
            service.set(RoomTrust(isOwnReplaced: true), of: room)
            XCTAssertTrue(
                MainLoop.pump {
                    let texts = window.visibleTexts
                    return texts.contains { $0.hasPrefix("Messages are not sent: your account") }
                        && !texts.contains("This device is not confirmed")
                })
            service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
            let bo = MemberID("@bo:example.org")
            service.set(RoomTrust(changed: [bo], holding: [bo]), of: room)
            XCTAssertTrue(MainLoop.pump { window.button("Review…") != nil && window.button("Confirm…") == nil })
            try XCTUnwrap(window.button("Review…")).activate()
            let identity = try dialog(titled: "Identity")
            identity.close()
            XCTAssertTrue(MainLoop.pump { !identity.isMapped })
            try program.close()
        }
    }

    /// A room's window need not show the account that the main window shows.
    func testLinkIsOpenedInTheAccountOfTheRoom() throws {
        try onMain {
            let (fixture, other) = (try ChatFixture(), try ChatFixture())
            let service = SingleAccount()
            let accounts = AccountsCoordinator(local: fixture.coordinator, service: service) { [weak other] _, _ in
                other?.coordinator
            }
            accounts.start(showing: AccountsCoordinator.localID)
            let room = try AccountRoom(SingleAccount.id, other.openRoom(named: "Plans").roomID)
            XCTAssertTrue(MainLoop.pump { accounts.coordinatorIDs.contains(SingleAccount.id) })
            other.coordinator.openWindow(of: room.room)
            XCTAssertTrue(MainLoop.pump { accounts.roomWindows == [room] })
            var selections: [String] = []
            var isClosed = false
            let made = RoomWindow(
                of: room, in: Self.application, accounts: accounts, settings: nil, size: nil,
                outputs: RoomWindow.Outputs(
                    mayClose: { _ in true }, closing: { _ in }, closed: { _ in isClosed = true },
                    withMainWindow: { _ in selections.append(accounts.selection) }))
            guard let window = made else { return XCTFail("no window") }
            window.present()
            XCTAssertTrue(MainLoop.pump { window.window.isMapped })
            XCTAssertEqual(accounts.selection, AccountsCoordinator.localID)
            XCTAssertTrue(window.view.widget.activateAction("win.open-address", "#garden:example.org"))
            XCTAssertEqual(selections, [SingleAccount.id])
            window.close()
            XCTAssertTrue(MainLoop.pump { isClosed })
            try other.close()
            try fixture.close()
        }
    }

    func testClosedWindowsAreFreed() throws {
        try onMain {
            let program = try Program(ChatFixture())
            let room = try program.fixture.openRoom(named: "Plans").roomID
            program.open()
            var closures = 0
            for round in 1...10 {
                var isFinalized = false
                weak var conversation: Conversation?
                program.fixture.coordinator.openWindow(of: room)
                do {
                    let window = try program.window(of: room)
                    window.window.onFinalize { isFinalized = true }
                    conversation = program.fixture.coordinator.roomWindows.first
                    window.close()
                }
                XCTAssertTrue(
                    MainLoop.pump { isFinalized && conversation == nil && program.rooms?.isEmpty == true },
                    "round \(round): \(isFinalized), \(conversation == nil)")
                XCTAssertTrue(MainLoop.pump { program.main?.content.conversationView != nil })
                if round == 2 { closures = ClosureCount.live }
            }
            XCTAssertTrue(MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures)")
            try program.close()
        }
    }
}
