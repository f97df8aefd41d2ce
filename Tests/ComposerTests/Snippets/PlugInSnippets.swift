import Composer
import Synchronization
import Testing

// The code of Composer.docc/PlugIns.md. `make lint` compares each block with a snippet.
struct PlugInSnippets {
    @Test("Each kind of plug-in is consulted")
    func eachPlugInIsConsulted() {
        // snippet
        var engine = ComposerEngine()
        let counter = KeystrokeCounter()
        let contacts = ContactCards()
        engine.add(interceptor: DigitInterceptor())
        engine.add(observer: counter)
        engine.add(inputPlugIn: contacts)
        engine.setInputController(TabExpander())
        engine.setSendGate(OpenTaskGate())
        // end snippet
        let denied = engine.handle(.insert("7", origin: .typed), at: .zero)
        #expect(denied.contains(.rejected(.denied(by: "no digits"))))
        for text in ["\t", "TODO"] { _ = engine.handle(.insert(text, origin: .typed), at: .zero) }
        #expect(engine.document.text == "    TODO")
        #expect(counter.count.withLock { $0 } == 2)
        let card = Composer.Attachment(type: "text/vcard", name: "ann.vcf", bytes: 300)
        _ = engine.handle(.paste([.media(card)]), at: .zero)
        #expect(contacts.cards.withLock { $0 } == [card] && engine.state.attachments.isEmpty)
        let refused = engine.handle(.send, at: .zero)
        #expect(refused.contains(.rejected(.rejectedByHost("There is a TODO left"))))
        // snippet
        engine.removeInterceptor(named: "no digits")
        engine.setSendGate(nil)
        // end snippet
        _ = engine.handle(.insert("7", origin: .typed), at: .zero)
        #expect(engine.handle(.send, at: .zero).contains { if case .send = $0 { true } else { false } })
        #expect(contacts.cards.withLock { $0 }.isEmpty)
    }
}
