import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit
import TimelineGtk

/// Draws the committed images: the screenshots that README.md and the metainfo refer to, and the image of the guide's
/// greeting.
struct PublishedScreenshots {
    let pictures: PictureFolder
    let guideImage: URL

    /// With the margin for the shadow, 1000 by 700: the most that software centers display.
    private static let size = (width: 928, height: 628)
    private static let narrowWidth = 360

    /// - Returns: the exit status.
    func draw(with gallery: Gallery) async -> Int32 {
        guard pictures.prepare() else { return 1 }
        await gallery.openWindow()
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        for (scheme, suffix) in [("light", ""), ("dark", "-dark")] {
            Appearance.apply(scheme)
            guard await resize(window, Self.size.width, gallery),
                await drawConversation("conversation\(suffix)", width: Self.size.width, coordinator, window, gallery),
                await drawComposing("composing\(suffix)", coordinator, window, gallery)
            else { return pictures.fail("cannot draw") }
        }
        Appearance.apply("light")
        guard await resize(window, Self.narrowWidth, gallery),
            await drawConversation("narrow", width: Self.narrowWidth, coordinator, window, gallery)
        else { return pictures.fail("cannot draw") }
        await gallery.closeWindow()
        return await drawGuideImage(gallery) ? 0 : pictures.fail("cannot draw the guide's image")
    }

    private func resize(_ window: MainWindow, _ width: Int, _ gallery: Gallery) async -> Bool {
        window.window.setDefaultSize(width: width, height: Self.size.height)
        await gallery.waitUntilDrawn()
        window.showConversation()
        await gallery.waitUntilDrawn()
        return true
    }

    /// A room with replies, formatting, and a draft.
    private func drawConversation(
        _ name: String, width: Int, _ coordinator: ConversationCoordinator, _ window: MainWindow, _ gallery: Gallery
    ) async -> Bool {
        guard let composer = coordinator.conversation?.composer else { return false }
        composer.handle(.load(WrittenText("The captions are next. Shall I **keep the small caps**?")))
        await gallery.showTyping()
        return await save(window, name, width: width, gallery)
    }

    /// The composer at work: formatted text, a mention, the mention list, and files.
    private func drawComposing(
        _ name: String, _ coordinator: ConversationCoordinator, _ window: MainWindow, _ gallery: Gallery
    ) async -> Bool {
        guard let composer = coordinator.conversation?.composer else { return false }
        let text =
            "@Ida Bergström, the cover is **ready for print**, with `smcp` in the headline.\nCould you check the _captions_, "
        composer.handle(.load(WrittenText(text, mentioning: [Mention(.member("ida"), text: "@Ida Bergström")])))
        let files = [
            Attachment(
                type: "image/png", name: "cover.png", bytes: 345_678, source: gallery.service.coverFile.absoluteString,
                altText: "Hills in the evening"),
            Attachment(type: "application/pdf", name: "Autumn issue.pdf", bytes: 4_567_890, source: "x:1"),
        ]
        files.forEach { composer.handle(.attach($0)) }
        composer.handle(.insert("@", origin: .typed))
        await gallery.wait(for: "the list of members") { composer.composer.completion?.items.isEmpty == false }
        await gallery.waitUntilDrawn()
        guard await save(window, name, width: Self.size.width, gallery) else { return false }
        composer.handle(.cancelCompletion)
        for _ in files { composer.handle(.detach(0)) }
        composer.handle(.load(WrittenText("")))
        await gallery.waitUntilDrawn()
        return true
    }

    /// Saves the window after reducing its height by the visible part of a row that is cut off at the top.
    private func save(_ window: MainWindow, _ name: String, width: Int, _ gallery: Gallery) async -> Bool {
        if let list = TimelineList.below(window.window), let cut = list.row(at: 0), cut.y > 0,
            let height = list.bounds(of: cut.key)?.height
        {
            window.window.setDefaultSize(width: width, height: Self.size.height - Int(height - cut.y))
            await gallery.waitUntilDrawn()
        }
        defer { window.window.setDefaultSize(width: width, height: Self.size.height) }
        return pictures.saveWindow(window.window, name)
    }

    private func drawGuideImage(_ gallery: Gallery) async -> Bool {
        let widget = ComposerBar.make()
        guard let bar = ComposerBar.of(widget) else { return false }
        bar.itemAppearances = [
            "attach": ItemAppearance(icon: "parlance-add-symbolic", label: "Attach"),
            "emoji": ItemAppearance(icon: "parlance-emoji-symbolic", label: "Emoji"),
        ]
        bar.items.add(ComposerItem(id: "attach"), to: .start)
        bar.items.add(ComposerItem(id: "emoji"), to: .end)
        bar.session.handle(
            .load(
                WrittenText(
                    "@Guide  try **bold** and `code`", mentioning: [Mention(.member("guide"), text: "@Guide")])))
        // The image is displayed on bubbles of any color, so it has its own background and transparent corners.
        StyleSheet.setOverrides(
            ".guide-image { border-radius: 24px; } .guide-image .parlance-composer { margin: 6px; }")
        defer { StyleSheet.setOverrides("") }
        let page = Box(.vertical)
        for style in ["view", "guide-image"] { page.addStyle(style) }
        page.append(widget)
        let window = AdwaitaWindow()
        window.setDefaultSize(width: 420, height: 60)
        window.setContent(page)
        window.present()
        await gallery.waitUntilDrawn()
        defer { window.destroy() }
        return page.savePNG(to: guideImage.path)
    }
}
