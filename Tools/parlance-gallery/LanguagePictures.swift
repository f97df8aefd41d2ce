import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import Foundation
import GtkKit

/// Draws the views and dialogs in the environment's language, narrow to wide, as `FOLDER/LANGUAGE-VIEW-WIDTH.png`: for
/// finding clipped, untranslated and unmirrored parts.
struct LanguagePictures {
    let gallery: Gallery
    let pictures: PictureFolder
    let language: String

    private static let widths = [360, 700, 1200]
    private static let height = 700
    /// View names, and the actions that open their dialogs.
    private static let dialogs = [
        ("switcher", "win.switch-room"), ("new-room", "win.new-room"), ("room-details", "win.room-details"),
        ("leave", "win.leave-room"), ("shortcuts", "win.show-help-overlay"),
    ]

    /// - Returns: the exit status.
    func draw() async -> Int32 {
        guard pictures.prepare() else { return 1 }
        await gallery.openWindow()
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        for width in Self.widths {
            window.window.setDefaultSize(width: width, height: Self.height)
            await gallery.waitUntilDrawn()
            guard await drawViews(width, coordinator, window), await drawDialogs(width, window) else {
                return pictures.fail("cannot draw at \(width) pixels")
            }
        }
        await gallery.closeWindow()
        return 0
    }

    private func save(_ window: Widget, _ view: String, _ width: Int) -> Bool {
        pictures.saveWindow(window, "\(language)-\(view)-\(width)")
    }

    private func drawViews(_ width: Int, _ coordinator: ConversationCoordinator, _ window: MainWindow) async -> Bool {
        await gallery.open(FixtureService.team)
        window.showSidebar()
        await gallery.waitUntilDrawn()
        guard save(window.window, "rooms", width) else { return false }
        window.showConversation()
        await gallery.showTyping()
        guard let composer = coordinator.conversation?.composer, save(window.window, "conversation", width) else {
            return false
        }
        composer.send(
            .startReply(
                ReplyTarget(
                    messageID: FixtureConversation.headlineMessage.rawValue, sender: "Tomás Herrera",
                    preview: .text(FixtureConversation.headlineText))))
        composer.handle(.load(Screenshots.composition))
        let files = Screenshots.files(with: gallery.service.coverFile)
        files.forEach { composer.handle(.attach($0)) }
        await gallery.waitUntilDrawn()
        guard save(window.window, "composing", width) else { return false }
        for _ in files { composer.handle(.detach(0)) }
        composer.handle(.reply(nil))
        composer.handle(.load(WrittenText("")))
        await gallery.open(FixtureService.mixed)
        return save(window.window, "mixed", width)
    }

    private func drawDialogs(_ width: Int, _ window: MainWindow) async -> Bool {
        for (name, action) in Self.dialogs {
            guard window.window.activateAction(action), await drawDialog(name, width) else { return false }
        }
        guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else { return false }
        for page in [nil] + PreferencesDialog.Page.allCases {
            PreferencesDialog.present(settings: settings, over: window.window, showing: page)
            guard await drawDialog("preferences\(page.map { "-\($0.rawValue)" } ?? "")", width) else { return false }
        }
        return true
    }

    /// Draws the open dialog and closes it. Dialogs of a fixed size are not resized.
    private func drawDialog(_ name: String, _ width: Int) async -> Bool {
        guard let dialog = await DialogPictures(gallery: gallery, pictures: pictures).open() else { return false }
        if name != "leave", name != "new-room" {
            dialog.window?.setDefaultSize(width: width, height: Self.height)
            await gallery.waitUntilDrawn()
        }
        guard save(dialog.window ?? dialog, name, width) else { return false }
        dialog.close()
        await gallery.waitUntilDrawn()
        return true
    }
}
