import ChatCore
import ChatViewModels
import GtkKit
import MediaGtk

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
        contentViews = files.map(add)
        box.isVisible = !files.isEmpty
    }

    private func add(_ file: MediaReference) -> AnyObject {
        switch file.presentation {
        case .image:
            let image = ImageContentView(file, media)
            box.append(image.widget)
            return image
        case .voiceMessage:
            let voice = VoiceMessageView(file, media)
            box.append(voice.widget)
            return voice
        case .player:
            let card = FileCard(file, media)
            let player = MediaPlayer(file, media, card)
            box.append(card.widget)
            box.append(player.widget)
            return player
        case .file:
            let card = FileCard(file, media)
            box.append(card.widget)
            return card
        }
    }

    /// The view of the first voice message.
    var voice: VoiceMessageView? { contentViews.lazy.compactMap { $0 as? VoiceMessageView }.first }

    /// The player of the first audio or video file.
    var player: MediaPlayer? { contentViews.lazy.compactMap { $0 as? MediaPlayer }.first }
}
