package import ChatCore
import Foundation
import GtkKit

/// Shows, opens and saves the media of messages.
@MainActor package final class MediaPresenter {
    package let previews: MediaPreviews
    package let avatars: AvatarLoader
    /// Called with the error when an operation fails.
    package var onFailure: ((ChatError) -> Void)?
    /// The images that the viewer steps through, in order.
    package var images: () -> [MediaReference] = { [] }
    /// What is loaded and played automatically.
    package var preferences: () -> MediaPreferences = { MediaPreferences() }
    private(set) var viewer: ImageViewer?
    /// What was started last.
    private weak var playing: MediaStream?
    /// The audio of a message that was started last, and its key. Its row may be out of view, or recycled.
    private var audio: (key: String, stream: MediaStream)?
    let texts: MediaTexts
    private let service: any MediaService

    /// - Parameter avatars: A loader shared with other views of the account, or `nil` to create one.
    package init(service: any MediaService, avatars: AvatarLoader?, texts: MediaTexts) {
        self.service = service
        self.texts = texts
        self.avatars = avatars ?? AvatarLoader(service: service)
        previews = MediaPreviews(service: service)
    }

    // A recycled row pauses no audio.
    isolated deinit { audio?.stream.pause() }

    /// Pauses what plays when another stream starts, also by controls of GTK's.
    /// - Parameter key: Of the audio of a message, which goes on while its view is unmapped or gone; `nil` for others.
    func follow(_ stream: MediaStream, as key: String? = nil) {
        stream.onPlayingChange { [weak self, weak stream] in
            guard let self, let stream, stream.isPlaying else { return }
            if let playing, playing !== stream { playing.pause() }
            playing = stream
            audio = key.map { (key: $0, stream: stream) }
        }
    }

    /// The stream of the audio with this key if it was started last.
    func stream(ofAudio key: String?) -> MediaStream? {
        guard let audio, audio.key == key, !audio.stream.hasFailed else { return nil }
        return audio.stream
    }

    /// Pauses the audio of a message, as when its room is out of sight.
    package func pauseAudio() { audio?.stream.pause() }

    /// Ends the audio of a message, as when its room is left.
    /// - Parameter isEnded: Whether to end the audio with this key.
    package func endAudio(where isEnded: (String) -> Bool = { _ in true }) {
        guard let audio, isEnded(audio.key) else { return }
        pauseAudio()
        self.audio = nil
    }

    /// Opens an image in the viewer, with those before and after it.
    func view(_ media: MediaReference, over widget: Widget) {
        let all = images()
        let viewer = ImageViewer(self, over: widget)
        self.viewer = viewer
        viewer.onClose = { [weak self] in self?.viewer = nil }
        if let index = all.firstIndex(of: media) {
            viewer.show(all, at: index)
        } else {
            viewer.show([media], at: 0)
        }
    }

    /// Opens the file in the default application for its type.
    /// - Parameter completion: Called once the application has been asked to open it, or the error was reported to the
    ///   user.
    func open(_ media: MediaReference, completion: @escaping @MainActor () -> Void = {}) {
        perform { [service] in
            try await service.namedFile(of: media)
        } then: { [onFailure] file in
            URILauncher.launch(file.absoluteString) { onFailure?(.noApplication) }
            completion()
        } onFailure: {
            completion()
        }
    }

    /// Calls `then` with the local file of the content.
    /// - Parameter onFailure: Called instead on failure, after the error was reported to the user.
    func withContent(
        of media: MediaReference, _ then: @escaping @MainActor (URL) -> Void,
        onFailure: @escaping @MainActor () -> Void = {}
    ) {
        perform({ [service] in try await service.content(of: media) }, then: then, onFailure: onFailure)
    }

    /// Returns the still image of a video, if it is stored or the preferences allow downloading it.
    func poster(of video: MediaReference, fitting box: (width: Int, height: Int)) async -> DecodedImage? {
        await previews.poster(
            of: video, fitting: box.width, by: box.height, loadsThumbnail: preferences().loadsPosters)
    }

    /// Downloads media that the preferences load automatically. A failure is reported only when the user opens them.
    /// - Returns: whether the content was downloaded.
    func prefetch(_ media: MediaReference) async -> Bool {
        guard preferences().loadsAutomatically(media), !media.isOnlyHere, await !previews.isStored(media) else {
            return false
        }
        return (try? await service.content(of: media)) != nil
    }

    /// Asks for a destination and copies the content there. Replaces an existing file, which the dialog confirms.
    /// - Parameter completion: Called once it is saved, the user has canceled, or the error was reported to the user.
    func save(_ media: MediaReference, over widget: Widget, completion: @escaping @MainActor () -> Void = {}) {
        FileChooser.save(
            translated("Save File"), accept: translated("_Save"), name: media.name, over: widget
        ) { [weak self] target in
            guard let self, let target else { return completion() }
            self.perform(
                { [service = self.service] in try await service.save(media, to: target) },
                then: { _ in completion() }, onFailure: completion)
        }
    }

    private func perform<T: Sendable>(
        _ work: @escaping @Sendable () async throws -> T, then: @escaping @MainActor (T) -> Void,
        onFailure: @escaping @MainActor () -> Void = {}
    ) {
        // Captured, so that the error is reported even if the user has moved on to another room.
        let fail = self.onFailure
        Task {
            do { then(try await work()) } catch {
                fail?(ChatError(error))
                onFailure()
            }
        }
    }
}
