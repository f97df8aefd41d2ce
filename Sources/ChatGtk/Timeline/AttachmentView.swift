import CGtk
import ChatCore
import GtkKit

/// The attachments of a message: images inline in a frame of known size, other files as cards, with a player for audio
/// and video that the system can decode.
final class AttachmentView {
    let widget: Widget
    private let media: MediaPresenter
    private let box = Box(.vertical, spacing: 6)
    private var displayedFiles: [MediaReference] = []
    private var contentViews: [AnyObject] = []

    init(media: MediaPresenter) {
        self.media = media
        widget = box
        box.addStyle("message-files")
        box.isVisible = false
    }

    func show(_ files: [MediaReference]) {
        guard files != displayedFiles else { return }
        displayedFiles = files
        for child in box.children { box.remove(child) }
        contentViews = files.map { file in
            if ImageContentView.shows(file) {
                let imageView = ImageContentView(file, media)
                box.append(imageView.widget)
                return imageView
            }
            if VoiceMessageView.shows(file) {
                let voice = VoiceMessageView(file, media)
                box.append(voice.widget)
                return voice
            }
            let card = FileCard(file, media)
            box.append(card.widget)
            guard MediaPlayer.plays(file) else { return card }
            let player = MediaPlayer(file, media, card)
            box.append(player.widget)
            return player
        }
        box.isVisible = !files.isEmpty
    }

    /// The view of the first voice message.
    var voice: VoiceMessageView? { contentViews.lazy.compactMap { $0 as? VoiceMessageView }.first }

    /// The player of the first audio or video file.
    var player: MediaPlayer? { contentViews.lazy.compactMap { $0 as? MediaPlayer }.first }

    /// Returns the part of the accessible label that describes the attachments.
    static func accessibleText(_ files: [MediaReference]) -> String {
        files.map { file in
            if VoiceMessageView.shows(file) { return translated("Voice Message") }
            let kind = file.isImage ? translated("Picture") : translated("File")
            return "\(kind) \(file.altText ?? file.name)"
        }.joined(separator: ", ")
    }
}
