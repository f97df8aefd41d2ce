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
    private var displayedMessage: String?
    private var contentViews: [AnyObject] = []

    init(media: MediaPresenter) {
        self.media = media
        widget = box
        box.addStyle("message-files")
        box.isVisible = false
    }

    /// - Parameter message: Identifies the message, whose audio goes on while it is out of view; `nil` pauses it
    ///   then.
    func show(_ files: [MediaReference], of message: String? = nil) {
        guard files != displayedFiles || !files.isEmpty && message != displayedMessage else { return resumeAudio() }
        if files.isEmpty, let message, message == displayedMessage {
            // The message was deleted, and with it what would pause its audio.
            media.endAudio { isAudioKey($0, of: message) }
        }
        displayedFiles = files
        displayedMessage = message
        for child in box.children { box.remove(child) }
        contentViews = files.enumerated().map { number, file in add(file, message.map { audioKey(number, $0) }) }
        box.isVisible = !files.isEmpty
    }

    /// Another row may have started audio of the message since this one was recycled.
    private func resumeAudio() {
        for view in contentViews {
            (view as? VoiceMessageView)?.resumeAudio()
            (view as? MediaPlayer)?.resumeAudio(media)
        }
    }

    private func add(_ file: MediaReference, _ audioKey: String?) -> AnyObject {
        switch file.presentation {
        case .image:
            let image = ImageContentView(file, media)
            box.append(image.widget)
            return image
        case .voiceMessage:
            let voice = VoiceMessageView(file, media, audioKey: audioKey)
            box.append(voice.widget)
            return voice
        case .player:
            let card = FileCard(file, media)
            let player = MediaPlayer(file, media, card, audioKey: audioKey)
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

private func audioKey(_ number: Int, _ message: String) -> String { "\(number) \(message)" }

/// Whether it is the key of any audio of the message.
private func isAudioKey(_ key: String, of message: String) -> Bool {
    key.firstIndex(of: " ").map { key[$0...].dropFirst() == message } ?? false
}

extension MediaPresenter {
    /// Ends the audio of deleted messages, whose rows may be out of view.
    func endAudio(of messages: DeletedMessages) {
        let keys = messages.ids.map(\.rawValue) + messages.transactions.map(\.rawValue)
        endAudio { key in keys.contains { isAudioKey(key, of: $0) } }
    }
}
