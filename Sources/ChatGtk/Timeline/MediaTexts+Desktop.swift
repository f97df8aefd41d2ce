import ChatCore
import ChatViewModels
import MediaGtk

extension MediaTexts {
    static let desktop: MediaTexts = {
        let text = MediaText(.desktop)
        return MediaTexts(
            details: text.details, duration: MediaText.duration, problem: text.text(for:),
            playButton: text.playButton, position: text.position)
    }()
}

extension MediaPresenter {
    /// - Parameter avatars: A loader shared with other views of the account, or `nil` to create one.
    convenience init(service: any MediaService, avatars: AvatarLoader? = nil) {
        self.init(service: service, avatars: avatars, texts: .desktop)
    }
}
