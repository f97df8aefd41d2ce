import CGtk
import ChatCore
import ChatGtk
import ChatViewModels
import Composer
import Foundation
import GtkKit

/// Draws the views with small to large text in narrow to wide windows, light and dark, as
/// `FOLDER/VIEW-WIDTH-STYLE-PERCENT.png`: for finding clipped, overlapping and misdrawn parts.
///
/// If the environment requests high contrast, the style's name includes it.
struct SizePictures {
    let gallery: Gallery
    let pictures: PictureFolder

    private static let percents = [100, 150, 200]
    private static let widths = [360, 700, 1200]
    private static let height = 700
    /// View names, and the actions that open their dialogs.
    private static let dialogs = [
        ("new-room", "win.new-room"), ("room-details", "win.room-details"),
        ("leave", "win.leave-room"), ("shortcuts", "win.show-help-overlay"),
    ]

    /// - Returns: the exit status.
    func draw() async -> Int32 {
        guard pictures.prepare() else { return 1 }
        await gallery.openWindow()
        guard let coordinator = gallery.coordinator, let window = gallery.window else {
            return pictures.fail("no window")
        }
        for scheme in ["light", "dark"] {
            Appearance.apply(scheme)
            for percent in Self.percents {
                TextZoom.apply(percent: percent)
                let style = "\(StyleManager.isHighContrast ? "contrast-" : "")\(scheme)-\(percent)"
                for width in Self.widths {
                    window.window.setDefaultSize(width: width, height: Self.height)
                    await gallery.waitUntilDrawn()
                    guard await drawViews("\(width)-\(style)", coordinator, window) else {
                        return pictures.fail("cannot draw")
                    }
                }
                for (name, action) in Self.dialogs {
                    guard window.window.activateAction(action), await drawDialog(name, style, over: window) else {
                        return pictures.fail("cannot draw \(name)")
                    }
                }
                guard let settings = Settings(schema: "io.github.parlance_chat.Parlance") else {
                    return pictures.fail("no schema of the settings")
                }
                for page in [nil] + PreferencesDialog.Page.allCases {
                    PreferencesDialog.present(settings: settings, over: window.window, showing: page)
                    let name = "preferences\(page.map { "-\($0.rawValue)" } ?? "")"
                    guard await drawDialog(name, style, over: window) else {
                        return pictures.fail("cannot draw the preferences")
                    }
                }
            }
        }
        await gallery.closeWindow()
        return 0
    }

    private func drawViews(_ suffix: String, _ coordinator: ConversationCoordinator, _ window: MainWindow) async -> Bool
    {
        await gallery.open(FixtureService.team)
        window.showSidebar()
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "rooms-\(suffix)") else { return false }
        window.showConversation()
        await gallery.showTyping()
        guard let composer = coordinator.conversation?.composer,
            pictures.saveWindow(window.window, "conversation-\(suffix)")
        else { return false }
        composer.send(
            .startReply(
                ReplyTarget(
                    messageID: FixtureConversation.headlineMessage.rawValue, sender: "Tomás Herrera",
                    preview: .text(FixtureConversation.headlineText))))
        composer.handle(.load(Screenshots.composition))
        let files = Screenshots.files(with: gallery.service.coverFile)
        files.forEach { composer.handle(.attach($0)) }
        await gallery.waitUntilDrawn()
        guard pictures.saveWindow(window.window, "composing-\(suffix)") else { return false }
        for _ in files { composer.handle(.detach(0)) }
        composer.handle(.reply(nil))
        composer.handle(.load(WrittenText("")))
        await gallery.open(FixtureService.mixed)
        return pictures.saveWindow(window.window, "mixed-\(suffix)")
    }

    /// Draws the dialog over the window, in its own width and in the narrowest one, and closes it.
    private func drawDialog(_ name: String, _ style: String, over window: MainWindow) async -> Bool {
        guard let dialog = await DialogPictures(gallery: gallery, pictures: pictures).open() else { return false }
        guard pictures.saveWindow(dialog.window ?? dialog, "\(name)-own-\(style)") else { return false }
        if !["new-room", "leave"].contains(name) {
            dialog.window?.setDefaultSize(width: Self.widths[0], height: Self.height)
            await gallery.waitUntilDrawn()
            guard pictures.saveWindow(dialog.window ?? dialog, "\(name)-360-\(style)") else { return false }
        }
        dialog.close()
        // If the dialog is within the window, resizing it has resized the window.
        window.window.setDefaultSize(width: Self.widths[2], height: Self.height)
        await gallery.waitUntilDrawn()
        return true
    }
}
