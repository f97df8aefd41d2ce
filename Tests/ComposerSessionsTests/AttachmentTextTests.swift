import ChatCore
import Composer
import ComposerSessions
import Testing

/// Texts about attached files.
@MainActor struct AttachmentTextTests {
    private let text = AttachmentText(.untranslated, byteCount: { "\($0) bytes" })

    private func file(
        _ type: String = "image/png", altText: String? = nil, _ upload: Composer.Attachment.Upload = .ready
    ) -> Composer.Attachment {
        Composer.Attachment(type: type, name: "a.png", bytes: 5, altText: altText, upload: upload)
    }

    @Test("A file shows its size, or why it is missing")
    func details() {
        #expect(text.detail(file()) == "5 bytes" && text.accessibleText(file()) == "a.png, 5 bytes")
        #expect(text.detail(file(.running(0.5))) == "Attaching…")
        #expect(text.detail(file(.failed)) == "Could not attach")
        #expect(text.removeButton(file()) == "Remove a.png")
    }

    private func file(_ upload: Composer.Attachment.Upload) -> Composer.Attachment { file("image/png", upload) }

    @Test("A description replaces the name and the keys; only a stored image can be placed in the text")
    func descriptions() {
        #expect(text.tooltip(file()) == "a.png" && text.tooltip(file(altText: "A cat")) == "A cat")
        #expect(text.accessibleDescription(file(altText: "A cat")) == "A cat")
        #expect(text.accessibleDescription(file()).contains("Insert to place in text"))
        for other in [file("text/plain"), file(.running(0)), file(.failed)] {
            #expect(!other.canBePlacedInText)
            #expect(!text.accessibleDescription(other).contains("Insert"))
        }
    }

    @Test("The key that retries comes before a description, without which the file cannot be sent either")
    func retrying() {
        for failed in [file(.failed), file(altText: "A cat", .failed)] {
            #expect(text.accessibleDescription(failed, canRetry: true).hasPrefix("Press Return to retry"))
            #expect(!text.accessibleDescription(failed).contains("retry"))
        }
    }

    @Test("An image in the text is described, or reported as removed")
    func inlineImages() {
        #expect(text.inlineImage(file(altText: "A cat")) == "A cat" && text.inlineImage(file()) == "a.png")
        #expect(text.inlineImage(nil) == "Removed image")
    }

    @Test("A pasted image is named after its type")
    func pastedImages() {
        #expect(text.nameOfPastedImage("image/png") == "Pasted image.png")
        #expect(text.nameOfPastedImage("image/jpeg") == "Pasted image.jpg")
        #expect(text.nameOfPastedImage("") == "Pasted image.bin")
    }
}
