import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Texts about the files of messages.
@MainActor @Suite struct MediaTextTests {
    private let text = MediaText(
        Wording(translator: .untranslated, byteCount: { "\($0) bytes" }, fullDate: { _ in "a date" }))

    @Test("Durations are formatted as in media players")
    func durations() {
        #expect(
            [-5, 0, 999, 3008, 61_000, 600_000, 3_599_999, 3_661_000].map(MediaText.duration)
                == ["0:00", "0:00", "0:00", "0:03", "1:01", "10:00", "59:59", "1:01:01"])
    }

    @Test("The details of a file are its duration and size, as far as known")
    func details() {
        func details(_ bytes: Int?, _ duration: Int?) -> String {
            text.details(MediaReference(uri: "f", name: "f", type: "audio/ogg", bytes: bytes, duration: duration))
        }
        #expect(details(5, 61_000) == "1:01 · 5 bytes")
        #expect(details(5, nil) == "5 bytes")
        #expect(details(nil, nil) == "")
    }

    @Test("A file's button names the file in one sentence, which translations can reorder")
    func playButtons() {
        let file = MediaReference(uri: "f", name: "song.ogg", type: "audio/ogg")
        #expect(text.playButton(file, isPlaying: false) == "Play song.ogg")
        let german = Translator(
            translate: { $0 == "Pause {name}" ? "{name} anhalten" : $0 }, plural: { $2 == 1 ? $0 : $1 })
        let wording = Wording(translator: german, byteCount: { "\($0)" }, fullDate: { _ in "" })
        #expect(MediaText(wording).playButton(file, isPlaying: true) == "song.ogg anhalten")
    }

    @Test("The position of an image among several is announced")
    func positions() {
        #expect(text.position(0, of: 1) == nil && text.position(2, of: 17) == "3 of 17")
    }

    @Test("Every problem has a text of its own")
    func problems() {
        let problems: [MediaProblem] = [
            .unsupportedImageFormat, .imageTooLarge, .damagedImage, .undisplayableImage,
            .missingImage(canRetry: true), .missingImage(canRetry: false), .unplayable,
        ]
        #expect(Set(problems.map(text.text(for:))).count == problems.count)
        #expect(text.text(for: .damagedImage) == "Image damaged")
        #expect(text.text(for: .missingImage(canRetry: true)) == "Image not available. Select to retry.")
    }
}
