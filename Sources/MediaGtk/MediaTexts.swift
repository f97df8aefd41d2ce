package import ChatCore
import MediaDecoding

/// What media widgets say about a file. The host of the widgets makes the texts.
package struct MediaTexts {
    /// Returns the line below a file's name; may be empty.
    let details: @MainActor (MediaReference) -> String
    /// Formats a duration in milliseconds.
    let duration: @MainActor (Int) -> String
    let problem: @MainActor (MediaProblem) -> String
    /// Returns the accessible label of the button that plays or pauses a file.
    let playButton: @MainActor (MediaReference, _ isPlaying: Bool) -> String
    /// Returns the position of an image in the viewer, or `nil` for a single image.
    let position: @MainActor (_ index: Int, _ count: Int) -> String?

    package init(
        details: @escaping @MainActor (MediaReference) -> String, duration: @escaping @MainActor (Int) -> String,
        problem: @escaping @MainActor (MediaProblem) -> String,
        playButton: @escaping @MainActor (MediaReference, _ isPlaying: Bool) -> String,
        position: @escaping @MainActor (_ index: Int, _ count: Int) -> String?
    ) {
        self.playButton = playButton
        self.position = position
        self.details = details
        self.duration = duration
        self.problem = problem
    }
}

extension ImageFailure {
    var problem: MediaProblem {
        switch self {
        case .unknownFormat: .unsupportedImageFormat
        case .tooLarge: .imageTooLarge
        case .broken: .damagedImage
        case .stopped: .undisplayableImage
        }
    }
}
