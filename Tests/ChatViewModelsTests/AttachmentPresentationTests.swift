import ChatCore
import ChatViewModels
import Testing

/// The presentation of files, and the texts of links, mentions and spoilers.
@Suite struct AttachmentPresentationTests {
    @Test(
        "A file is presented by its type; SVG is active content and only a card",
        arguments: [
            ("image/png", nil, .image), ("image/svg+xml", nil, .file), ("audio/ogg", [1], .voiceMessage),
            ("audio/ogg", nil, .player), ("video/mp4", [1], .player), ("text/plain", nil, .file),
        ] as [(String, [Int]?, AttachmentPresentation)])
    func presentationDependsOnTypeAndWaveform(type: String, loudness: [Int]?, expected: AttachmentPresentation) {
        let file = MediaReference(uri: "a", name: "a", type: type, loudness: loudness)
        #expect(file.presentation == expected)
    }
}
