import CGtk
import ChatCore
import GtkKit

/// The files of one message: pictures as such, in a place that is known before they are loaded, others as cards,
/// with a player where the desktop has what sounds and films take.
final class AttachmentView {
    let widget: Widget
    private let media: MediaPresenter
    private let box = Box(.vertical, spacing: 6)
    private var shown: [MediaReference] = []
    private var parts: [AnyObject] = []

    init(media: MediaPresenter) {
        self.media = media
        widget = box
        box.addStyle("message-files")
        box.isVisible = false
    }

    func show(_ files: [MediaReference]) {
        guard files != shown else { return }
        shown = files
        for child in box.children { box.remove(child) }
        parts = files.map { file in
            if PicturePart.shows(file) {
                let picture = PicturePart(file, media)
                box.append(picture.widget)
                return picture
            }
            if VoicePart.shows(file) {
                let voice = VoicePart(file, media)
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

    /// Of the first voice message.
    var voice: VoicePart? { parts.lazy.compactMap { $0 as? VoicePart }.first }

    /// Of the first sound or film.
    var player: MediaPlayer? { parts.lazy.compactMap { $0 as? MediaPlayer }.first }

    /// What a sentence about the message says of its files.
    static func spoken(_ files: [MediaReference]) -> String {
        files.map { file in
            if VoicePart.shows(file) { return translated("Voice Message") }
            let kind = file.isPicture ? translated("Picture") : translated("File")
            return "\(kind) \(file.altText ?? file.name)"
        }.joined(separator: ", ")
    }
}
