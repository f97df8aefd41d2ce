import CGtk
import ChatCore
import ChatTestSupport
import ChatViewModels
import Composer
import GtkKit
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// Notifications from the view models to a daemon on the bus, and activations back to a window.
final class NotificationTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.NotificationTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    func testAnswersOpenTheMessageAndReplyToIt() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            let fixture = try ChatFixture()
            let plans = try fixture.openRoom(named: "Plans")
            let room = plans.roomID
            plans.composer.handle(.insert("the message", origin: .typed))
            plans.composer.handle(.send)
            XCTAssertTrue(MainLoop.pump { plans.timeline.rows.contains { $0.message?.text == "the message" } })
            let message = try XCTUnwrap(plans.timeline.rows.compactMap(\.message).last?.id)
            _ = try fixture.openRoom(named: "Other")
            let accounts = AccountsCoordinator(local: fixture.coordinator)
            let window = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            window.present()
            XCTAssertTrue(MainLoop.pump { window.window.isMapped })
            for action in RoomNotifier.AnswerAction.allCases {
                Self.application.addTextAction(action.rawValue) { [weak window] in
                    guard let target = NotificationTarget($0) else { return XCTFail($0) }
                    window?.open(action == .reply ? .reply(target) : .message(target))
                }
            }
            let notifier = RoomNotifier(ApplicationNotifier.desktop(Self.application))
            let target = NotificationTarget(account: AccountsCoordinator.localID, room: room, message: message)
            notifier.show(
                RoomNotification(kind: .messages, target: target, title: "Plans", body: "Ann: Hi"), as: "one",
                media: fixture.backend)
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"]?.title == "Plans" })
            XCTAssertEqual(daemon.shown["1"]?.buttons, ["0": "Reply", "1": "Mark as Read"])
            daemon.invoke("default", of: "1")
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.conversation?.roomID == room })
            fixture.coordinator.rooms.send(
                .select(try XCTUnwrap(fixture.coordinator.rooms.state.rows.first { $0.name == "Other" }?.id)))
            XCTAssertTrue(MainLoop.pump { fixture.coordinator.conversation?.roomID != room })
            daemon.invoke("0", of: "1")
            XCTAssertTrue(
                MainLoop.pump {
                    fixture.coordinator.conversation?.composer.state.composer.reply?.messageID == message.rawValue
                })
            XCTAssertEqual(fixture.coordinator.conversation?.roomID, room)
            notifier.show(
                RoomNotification(kind: .invitation, target: target, title: "Garden", body: "Invitation"), as: "two",
                media: fixture.backend)
            XCTAssertTrue(MainLoop.pump { daemon.shown["2"]?.title == "Garden" })
            XCTAssertEqual(daemon.shown["2"]?.buttons, [:])
            notifier.show(
                RoomNotification(kind: .messages, target: target, title: "News", body: "Ann: Hi", acceptsReply: false),
                as: "three", media: fixture.backend)
            XCTAssertTrue(MainLoop.pump { daemon.shown["3"]?.title == "News" })
            XCTAssertEqual(daemon.shown["3"]?.buttons, ["0": "Mark as Read"])
            notifier.withdraw("one")
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"] == nil })
            window.close()
            XCTAssertTrue(MainLoop.pump { !window.window.isMapped && fixture.coordinator.conversation == nil })
            daemon.close()
            try fixture.close()
        }
    }

    func testSoundOfANotificationThatIsReplacedBeforeItsAvatarIsLoadedIsPlayed() {
        onMain {
            let desktop = FakeNotifier()
            let notifier = RoomNotifier(desktop)
            let target = NotificationTarget(account: AccountsCoordinator.localID, room: RoomID("plans"))
            @MainActor func show(_ body: String, playsSound: Bool = false) {
                notifier.show(
                    RoomNotification(
                        kind: .messages, target: target, title: "Plans", body: body, avatar: "fake:avatar",
                        playsSound: playsSound), as: "one", media: FakeMediaService())
            }
            show("Ann: 1", playsSound: true)
            show("Ann: 2")
            XCTAssertTrue(MainLoop.pump { !desktop.sent.isEmpty })
            show("Ann: 3")
            XCTAssertTrue(MainLoop.pump { desktop.sent.count > 1 })
            XCTAssertEqual(desktop.sent.map(\.body), ["Ann: 2", "Ann: 3"])
            XCTAssertEqual(desktop.sent.map(\.playsSound), [true, false])
        }
    }

    func testReplyToAnAccountThatIsGoneIsCopied() throws {
        try onMain {
            let fixture = try ChatFixture()
            _ = try fixture.openRoom(named: "Plans")
            let replies = UnsentReplies()
            Task {
                await replies.adopt(
                    [#"{"account":"@gone:example.org","roomID":"r","text":"At <three>"}"#, "from a newer version"])
            }
            XCTAssertTrue(MainLoop.pump { replies.replies.count == 1 })
            let accounts = AccountsCoordinator(local: fixture.coordinator, unsentReplies: replies)
            let window = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            window.present()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert?.isMapped == true })
            let labels = OpenDialogs.alert?.descendants.compactMap { $0.wrapped(as: Label.self, gtk_label_get_type()) }
            let texts = labels?.map(\.text)
            XCTAssertEqual(
                texts?.contains("@gone:example.org is no longer on this computer. You wrote:\n\nAt <three>"), true,
                "\(texts ?? [])")
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.press("Return")
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty }, "\(OpenDialogs.all.map(\.title))")
            XCTAssertEqual(replies.replies.count, 1, "whoever was typing when it appeared has not answered")
            window.close()
            XCTAssertTrue(MainLoop.pump { !window.window.isMapped && fixture.coordinator.conversation == nil })
            let next = MainWindow(application: Self.application, accounts: accounts, settings: nil)
            next.present()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert?.isMapped == true }, "the next window asks again")
            try RealInput.activate(try XCTUnwrap(OpenDialogs.alert))
            try RealInput.press("alt+c")
            XCTAssertTrue(
                MainLoop.pump { replies.replies.isEmpty && OpenDialogs.all.isEmpty },
                "\(replies.replies.count), \(OpenDialogs.all.map(\.title))")
            let clipboard = next.window.clipboard
            var copied: String?
            AsyncCall.start {
                gdk_clipboard_read_text_async(clipboard.cast(), nil, $0, $1)
            } _: { _, result in
                let read = gdk_clipboard_read_text_finish(clipboard.cast(), result, nil)
                defer { g_free(read) }
                copied = read.map { String(cString: $0) }
            }
            XCTAssertTrue(MainLoop.pump { copied == "At <three>" }, copied ?? "nothing")
            next.close()
            XCTAssertTrue(MainLoop.pump { !next.window.isMapped && fixture.coordinator.conversation == nil })
            try fixture.close()
        }
    }
}

/// Records what is sent.
@MainActor
private final class FakeNotifier: Notifier {
    var onReply: (@MainActor (_ target: String, _ text: String) -> Void)?
    private(set) var sent: [DesktopNotification] = []

    func send(_ notification: DesktopNotification, as id: String) { sent.append(notification) }
    func withdraw(_ id: String) {}
}
