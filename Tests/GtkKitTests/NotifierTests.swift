import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

final class NotifierTests: GtkTestCase {
    @MainActor
    private static let application: Application = {
        let application = Application(id: "io.github.parlance_chat.Parlance.NotifierTests")
        g_application_set_flags(application.cast(), shim_application_non_unique)
        g_application_register(application.cast(), nil, nil)
        return application
    }()

    @MainActor
    private static func notification(_ body: String, sound: Bool = false) -> DesktopNotification {
        DesktopNotification(
            title: "Plans", body: body, icon: DecodedImage(pixels: [255, 0, 0, 255], width: 1, height: 1)?.png,
            category: "im.received", playsSound: sound, defaultAction: .init("open", "a/b"),
            buttons: [
                .init("Reply", .init("reply", "a/b"), acceptsText: true),
                .init("Mark as Read", .init("mark-read", "a/b")),
            ])
    }

    // MARK: freedesktop.org

    func testNotificationIsReplacedAnsweredAndWithdrawn() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            let notifier = FreedesktopNotifier(Self.application)
            var activated: [String] = []
            for name in ["open", "reply", "mark-read"] {
                Self.application.addTextAction(name) { activated.append("\(name) \($0)") }
            }
            notifier.send(Self.notification("Ann: <b>1</b> & more"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.count == 1 })
            let first = try XCTUnwrap(daemon.shown["1"])
            XCTAssertEqual(first.title, "Plans")
            XCTAssertEqual(first.body, "Ann: &lt;b&gt;1&lt;/b&gt; &amp; more", "what strangers write is no markup")
            XCTAssertEqual(first.buttons, ["0": "Reply", "1": "Mark as Read"])
            XCTAssertTrue(first.hints.isSuperset(of: ["category", "desktop-entry", "image-data", "suppress-sound"]))
            notifier.send(Self.notification("Ann: 2"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"]?.body == "Ann: 2" })
            XCTAssertEqual(daemon.count, 1, "one for the room")
            for key in ["default", "0", "1", "2", "x"] { daemon.invoke(key, of: "1") }
            XCTAssertTrue(MainLoop.pump { activated == ["open a/b", "reply a/b", "mark-read a/b"] }, "\(activated)")
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }

    /// The ID that is needed to replace or close a notification is unknown until the daemon's reply.
    func testSendingAndWithdrawingBeforeTheAnswerLeavesNothing() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            daemon.capabilities = ["actions", "body", "sound"]
            let notifier = FreedesktopNotifier(Self.application)
            notifier.send(Self.notification("1 <i>", sound: true), as: "first")
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"]?.body == "1 <i>" }, "this daemon shows plain text")
            XCTAssertTrue(daemon.shown["1"]?.hints.contains("sound-name") == true)
            for number in 2...5 { notifier.send(Self.notification("\(number)"), as: "second") }
            notifier.send(Self.notification("withdrawn"), as: "third")
            notifier.withdraw("third")
            XCTAssertTrue(
                MainLoop.pump { daemon.shown["2"]?.body == "5" && daemon.shown.count == 2 }, "\(daemon.shown)")
            daemon.dismiss("2")
            notifier.send(Self.notification("again"), as: "second")
            XCTAssertTrue(MainLoop.pump { daemon.shown.values.contains { $0.body == "again" } })
            XCTAssertEqual(daemon.shown.count, 2)
            daemon.close()
        }
    }

    func testDaemonThatAcceptsTextAsksForTheReply() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            daemon.capabilities = ["actions", "body", "inline-reply"]
            let notifier = FreedesktopNotifier(Self.application)
            var replies: [String] = []
            notifier.onReply = { replies.append("\($0): \($1)") }
            notifier.send(Self.notification("Ann: 1"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.count == 1 })
            XCTAssertEqual(daemon.shown["1"]?.buttons, ["inline-reply": "Reply", "1": "Mark as Read"])
            daemon.reply("not of this program", to: "2")
            daemon.reply("At <three>", to: "1")
            XCTAssertTrue(MainLoop.pump { replies == ["a/b: At <three>"] }, "\(replies)")
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }

    /// Without the token of the click, a Wayland compositor does not raise the window.
    func testActionHasTheTokenOfTheClick() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            let notifier = FreedesktopNotifier(Self.application)
            var tokens: [String?] = []
            for name in ["open", "mark-read"] {
                Self.application.addTextAction(name) { _ in
                    let display = gdk_display_get_default()
                    let token = display.flatMap { gdk_display_get_startup_notification_id($0) }
                    tokens.append(token.map { String(cString: $0) })
                }
            }
            notifier.send(Self.notification("Ann: 1"), as: "first")
            XCTAssertTrue(MainLoop.pump { daemon.shown.count == 1 })
            notifier.send(Self.notification("Bo: 1"), as: "second")
            XCTAssertTrue(MainLoop.pump { daemon.shown.count == 2 })
            daemon.invoke("default", of: "2", token: "click_TIME3")
            XCTAssertTrue(MainLoop.pump { tokens == ["click_TIME3"] }, "\(tokens)")
            daemon.invoke("1", of: "1", token: "button_TIME4")
            XCTAssertTrue(MainLoop.pump { tokens == ["click_TIME3", "button_TIME4"] }, "\(tokens)")
            for id in ["first", "second"] { notifier.withdraw(id) }
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }

    /// Both wait for the daemon's capabilities.
    func testSoundOfANotificationThatIsReplacedBeforeItIsSentIsPlayed() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            daemon.capabilities = ["actions", "body", "sound"]
            let notifier = FreedesktopNotifier(Self.application)
            notifier.send(Self.notification("Ann: 1", sound: true), as: "room")
            notifier.send(Self.notification("Ann: 2"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"]?.body == "Ann: 2" })
            XCTAssertEqual(daemon.shown["1"]?.hints.contains("sound-name"), true)
            notifier.send(Self.notification("Ann: 3"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown["1"]?.body == "Ann: 3" })
            XCTAssertEqual(daemon.shown["1"]?.hints.contains("sound-name"), false)
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }

    // MARK: GNOME

    func testGnomeShellReceivesThePlainBody() throws {
        try onMain {
            let daemon = try NotificationDaemon(.gnome)
            let notifier = try XCTUnwrap(ApplicationNotifier.desktop(Self.application) as? DesktopNotifier)
            notifier.send(Self.notification("Ann: <b>1</b>"), as: "room")
            notifier.send(Self.notification("Ann: <b>2</b>"), as: "room")
            XCTAssertTrue(MainLoop.pump { daemon.shown["room"]?.body == "Ann: <b>2</b>" })
            XCTAssertEqual(daemon.shown["room"]?.defaultAction, ["app.open", "a/b"])
            XCTAssertTrue(
                daemon.shown["room"]?.hints.isSuperset(of: ["icon", "priority", "buttons"]) == true, "\(daemon.shown)")
            XCTAssertTrue(notifier.notifier is ApplicationNotifier)
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }

    // MARK: Which of them

    /// What comes before the bus has answered is sent then, to whoever is there.
    func testDesktopIsChosenWithoutWaitingForTheBus() throws {
        try onMain {
            let daemon = try NotificationDaemon(.freedesktop)
            daemon.capabilities = ["actions", "body", "inline-reply"]
            let notifier = DesktopNotifier(Self.application)
            var replies: [String] = []
            notifier.onReply = { replies.append("\($0): \($1)") }
            notifier.send(Self.notification("withdrawn"), as: "first")
            notifier.withdraw("first")
            notifier.send(Self.notification("Ann: 1"), as: "room")
            XCTAssertNil(notifier.notifier, "the answer comes later")
            XCTAssertTrue(MainLoop.pump { !daemon.shown.isEmpty })
            XCTAssertTrue(notifier.notifier is FreedesktopNotifier)
            XCTAssertEqual(daemon.shown.values.map(\.body), ["Ann: 1"])
            daemon.reply("At three", to: "1")
            XCTAssertTrue(MainLoop.pump { replies == ["a/b: At three"] }, "\(replies)")
            notifier.withdraw("room")
            XCTAssertTrue(MainLoop.pump { daemon.shown.isEmpty })
            daemon.close()
        }
    }
}
