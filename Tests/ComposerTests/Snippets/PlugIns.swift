import Composer
import Synchronization

// The types of Composer.docc/PlugIns.md. Not in the file of the tests, because Testing has an `Attachment` too.

// snippet
struct DigitInterceptor: ComposerInterceptor {
    let name = "no digits"

    func intercept(_ change: TextEdit, origin: EditOrigin, in document: ComposerDocument) -> Interception {
        change.replacement.contains(where: \.isNumber) ? .deny : .allow
    }
}
// end snippet

// snippet
final class KeystrokeCounter: ComposerObserver {
    let name = "keystroke counter"
    let count = Mutex(0)

    func textChanged(_ event: TextEvent) {
        if event.origin == .typed { count.withLock { $0 += 1 } }
    }

    func observed(_ observation: ComposerObservation, state: ComposerState) {}
}
// end snippet

// snippet
struct TabExpander: ComposerInputController {
    let name = "tabs to spaces"

    func control(_ event: ComposerEvent, in engine: ComposerEngine) -> InputControl {
        guard case .insert("\t", let origin) = event else { return .pass }
        return .replace([.insert("    ", origin: origin)])
    }
}
// end snippet

// snippet
final class ContactCards: ComposerInputPlugIn {
    let name = "contact cards"
    let cards = Mutex<[Attachment]>([])

    func handle(_ offer: PasteOffer, state: ComposerState) -> Bool {
        guard case .media(let file) = offer, file.type == "text/vcard" else { return false }
        cards.withLock { $0.append(file) }
        return true
    }

    func reload() {}
    func invalidate() { cards.withLock { $0 = [] } }
}
// end snippet

// snippet
struct OpenTaskGate: ComposerSendGate {
    func rejectionReason(of message: ComposedMessage) -> String? {
        message.text.source.contains("TODO") ? "There is a TODO left" : nil
    }
}
// end snippet
