import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import Foundation
import GtkKit
import TimelineGtk

/// Renders each view to `FOLDER/VIEW-WIDTH-light.png` and `…-dark.png`.
struct Screenshots {
    let gallery: Gallery
    let pictures: PictureFolder

    /// From the narrowest supported width to a wide one; 1000 is the widest that software centers display.
    private static let widths = [360, 700, 1000, 1200]

    /// - Returns: the exit status.
    func draw() async -> Int32 {
        guard pictures.prepare() else { return 1 }
        await gallery.openWindow()
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        for scheme in ["light", "dark"] {
            Appearance.apply(scheme)
            for width in Self.widths {
                window.window.withPointer { gtk_window_set_default_size($0, Int32(width), 700) }
                await gallery.waitUntilDrawn()
                guard await drawViews("\(width)-\(scheme)", coordinator, window),
                    await drawFiles("\(width)-\(scheme)", window)
                else { return pictures.fail("cannot draw") }
            }
            for width in Self.widths.prefix(2) {
                guard await drawBodies("\(width)-\(scheme)", Int32(width)) else { return pictures.fail("cannot draw") }
            }
        }
        await gallery.closeWindow()
        guard await drawComposerStyles() else { return pictures.fail("cannot draw the looks") }
        for scheme in ["light", "dark"] {
            Appearance.apply(scheme)
            guard await drawStates("-\(scheme)") == 0 else { return 1 }
        }
        Appearance.apply("light")
        TextZoom.apply(percent: 200)
        guard await drawStates("-large") == 0 else { return 1 }
        TextZoom.apply(percent: 100)
        gtk_widget_set_default_direction(GTK_TEXT_DIR_RTL)
        return await drawStates("-rtl")
    }

    /// Renders the composer in each of its states.
    /// - Returns: the exit status.
    func drawStates(_ suffix: String) async -> Int32 {
        guard pictures.prepare() else { return 1 }
        let (window, page) = States.window()
        window.withPointer { gtk_window_present($0) }
        defer { window.withPointer { gtk_window_destroy($0) } }
        await gallery.wait(for: "the spinner of a message that is sent") {
            DialogPictures.first(below: page) { $0.isMapped && $0.isInstance(of: gtk_spinner_get_type()) } != nil
        }
        for width in [360, 700] {
            window.withPointer { gtk_window_set_default_size($0, Int32(width), 700) }
            await gallery.waitUntilDrawn()
            guard pictures.save(page, "states-\(width)\(suffix)") else {
                return pictures.fail("cannot draw the states")
            }
        }
        return 0
    }

    /// A text with mentions, one of them of the user, and every kind of Markdown.
    static let composition = WrittenText(
        "@Ann Lindqvist and @Robin: **small caps** _or_ `smcp`?\n> keep the ~~old~~ grid",
        mentioning: [
            Mention(.member(FixtureConversation.ann.id.rawValue), text: "@Ann Lindqvist"),
            Mention(.member(FixtureService.ownMember.id.rawValue), text: "@Robin"),
        ])

    /// Files in each state that the attachment tray shows.
    static func files(with image: URL) -> [Attachment] {
        [
            Attachment(
                type: "image/png", name: "cover.png", bytes: 345_678, source: image.absoluteString,
                altText: "Hills in the evening"),
            Attachment(type: "application/pdf", name: "Autumn issue, last proof.pdf", bytes: 4_567_890, source: "x:1"),
            Attachment(type: "video/mp4", name: "walk.mp4", bytes: 45_678_901, source: "x:2", upload: .running(0.4)),
            Attachment(type: "text/plain", name: "notes.txt", bytes: 1_234, source: "x:3", upload: .failed),
        ]
    }

    /// Renders the room with all kinds of files page by page, from the bottom up.
    private func drawFiles(_ suffix: String, _ window: MainWindow) async -> Bool {
        await gallery.open(FixtureService.files)
        window.showConversation()
        for page in 1...3 {
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(window.window, "media\(page)-\(suffix)") else { return false }
            TimelineList.below(window.window)?.scrollPage(-1)
        }
        return true
    }

    private func drawComposerStyles() async -> Bool {
        let (stylesWindow, page) = ComposerStyles.window()
        stylesWindow.withPointer { gtk_window_present($0) }
        defer { stylesWindow.withPointer { gtk_window_destroy($0) } }
        for scheme in ["light", "dark"] {
            Appearance.apply(scheme)
            for width in [360, 700] {
                stylesWindow.withPointer { gtk_window_set_default_size($0, Int32(width), 480) }
                await gallery.waitUntilDrawn()
                guard pictures.save(page, "looks-\(width)-\(scheme)") else { return false }
            }
        }
        return true
    }

    private func drawViews(_ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow) async -> Bool
    {
        window.showSidebar()
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "rooms-\(suffix)") else { return false }
        await gallery.open(FixtureService.team)
        window.showConversation()
        guard let composer = coordinator.conversation?.composer else { return false }
        composer.handle(.load(WrittenText("The captions are next. Shall I\nkeep the small caps?")))
        await gallery.showTyping()
        guard pictures.saveWindow(window.window, "conversation-\(suffix)") else { return false }
        composer.send(
            .startReply(
                ReplyTarget(
                    messageID: FixtureConversation.headlineMessage.rawValue, sender: "Tomás Herrera",
                    preview: .text(FixtureConversation.headlineText))))
        composer.handle(.load(Self.composition))
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "composing-\(suffix)"), await drawCard(suffix, composer, window) else {
            return false
        }
        composer.handle(.reply(nil))
        composer.handle(.load(WrittenText("The last pages")))
        let files = Self.files(with: gallery.service.coverFile)
        files.forEach { composer.handle(.attach($0)) }
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "files-\(suffix)") else { return false }
        for _ in files { composer.handle(.detach(0)) }
        composer.handle(.load(WrittenText("")))
        coordinator.conversation?.timeline.send(.composer(.editLast))
        await gallery.wait(for: "the edit of the last message") { composer.composer.editing != nil }
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "edit-\(suffix)") else { return false }
        composer.handle(.cancelEdit)
        guard await drawLongConversation(suffix, coordinator, window) else { return false }
        await gallery.open(FixtureService.empty)
        return pictures.saveWindow(window.window, "empty-\(suffix)")
    }

    private func drawBodies(_ suffix: String, _ width: Int32) async -> Bool {
        let page = BodyPage(width: width)
        page.window.withPointer { gtk_window_present($0) }
        await gallery.waitUntilDrawn()
        defer { page.window.withPointer { gtk_window_destroy($0) } }
        return pictures.saveWindow(page.window, "bodies-\(suffix)")
    }

    /// Renders a room of a thousand messages: the unread marker, a selection across messages, and old messages.
    private func drawLongConversation(
        _ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow
    ) async -> Bool {
        await gallery.open(FixtureService.choir)
        window.showConversation()
        await gallery.waitUntilDrawn()
        guard let timeline = coordinator.conversation?.timeline, pictures.saveWindow(window.window, "unread-\(suffix)")
        else {
            return false
        }
        timeline.send(
            .selection(
                .select(
                    MessageSelection(
                        anchor: TextPoint(message: MessageID("c874"), offset: 4),
                        focus: TextPoint(message: MessageID("c876"), offset: 27)))))
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "selection-\(suffix)") else { return false }
        timeline.send(.selection(.select(nil)))
        let old = MessageID("c512")
        timeline.send(.pages(.jump(.message(old))))
        await gallery.wait(for: "the message \(old.rawValue)") { timeline.rows.message(old) != nil }
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "past-\(suffix)") else { return false }
        timeline.send(.pages(.jump(.newest)))
        await gallery.wait(for: "the newest message") { !timeline.state.isDetached }
        await gallery.waitUntilDrawn()
        return pictures.saveWindow(window.window, "newest-\(suffix)")
    }

    /// Renders the card of the mention at the caret: a popover, which screenshots of its window do not include.
    private func drawCard(_ suffix: String, _ composer: ComposerViewModel, _ window: MainWindow) async -> Bool {
        composer.handle(.select(.caret(4)))
        defer { composer.handle(.select(.caret(0))) }
        var card: Widget?
        await gallery.wait(for: "the card of a mention") {
            card = DialogPictures.first(below: window.window) { $0.hasStyle("mention-card-popover") && $0.isMapped }
            return card != nil
        }
        await gallery.waitUntilDrawn()
        guard let card else { return false }
        return pictures.save(card, "card-\(suffix)")
    }
}
