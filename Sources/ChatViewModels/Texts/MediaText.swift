public import ChatCore
import Foundation

/// The texts about images, videos, voice messages and other files of messages.
public struct MediaText {
    private let wording: Wording
    private var translator: Translator { wording.translator }

    public init(_ wording: Wording) {
        self.wording = wording
    }

    /// The line below a file's name: its duration and size, as far as they are known.
    public func details(_ file: MediaReference) -> String {
        [file.duration.map(Self.duration), file.bytes.map(wording.byteCount)].compactMap(\.self).joined(
            separator: " · ")
    }

    /// Formats the duration of audio and video as media players do.
    /// - Parameter milliseconds: Negative values count as 0.
    public static func duration(_ milliseconds: Int) -> String {
        let seconds = max(0, milliseconds) / 1000
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = seconds / 60 % 60
        return seconds < 3600
            ? "\(minutes):\(two(seconds % 60))" : "\(seconds / 3600):\(two(minutes)):\(two(seconds % 60))"
    }

    /// The accessible label of the button that plays or pauses a file.
    public func playButton(_ file: MediaReference, isPlaying: Bool) -> String {
        let name = ["name": file.name]
        return isPlaying ? translator("Pause {name}", name) : translator("Play {name}", name)
    }

    /// The position of an image in the viewer, such as "3 of 17"; `nil` for a single image.
    public func position(_ index: Int, of count: Int) -> String? {
        count > 1 ? translator("{number} of {total}", ["number": "\(index + 1)", "total": "\(count)"]) : nil
    }

    public func text(for problem: MediaProblem) -> String {
        switch problem {
        case .unsupportedImageFormat: translator("Image format not supported")
        case .imageTooLarge: translator("Image too large to display")
        case .damagedImage: translator("Image damaged")
        case .undisplayableImage: translator("Could not display image")
        case .missingImage(canRetry: true): translator("Image not available. Select to retry.")
        case .missingImage(canRetry: false): translator("Image not available")
        case .notLoaded(nil): translator("Select to load the image")
        case .notLoaded(let bytes?):
            translator("Select to load the image ({size})", ["size": wording.byteCount(bytes)])
        case .unplayable: translator("Could not play this file. Try opening it in another app.")
        }
    }
}
