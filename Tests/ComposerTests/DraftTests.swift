import Composer
import Foundation
import Testing

/// SLK-39.
struct DraftTests {
    private func engine() -> ComposerEngine {
        var script = ComposerScript()
        let mention = ComposerContent.PlacedMention(
            mention: Mention(entityID: "u", text: "Ann", short: "A"), range: TextRange(location: 3, length: 3))
        script.send(
            .load(ComposerContent(text: "hi Ann!", mentions: [mention], selection: TextRange(location: 1, length: 4))))
        script.send(.setStyle(.bold, true))
        script.send(.reply(ReplyTarget(messageID: "r", sender: "Bo", preview: .text("?"))))
        script.send(.attach(Attachment(type: "image/png", name: "a", bytes: 3, source: "file:///a", altText: "a cat")))
        return script.engine
    }

    @Test func everythingComesBack() throws {
        var editing = engine()
        _ = editing.handle(.beginEdit(id: "m", ComposerContent(text: "old")), at: .zero)
        for engine in [engine(), editing, ComposerEngine()] {
            let draft = engine.makeDraft()
            var other = ComposerEngine()
            _ = other.restore(encoded: try draft.encoded())
            #expect(other.makeDraft() == draft)
            #expect(!other.state.canUndo)
        }
        var other = ComposerEngine()
        _ = other.restore(editing.makeDraft())
        _ = other.handle(.cancelEdit, at: .zero)
        #expect(other.makeDraft() == engine().makeDraft())
    }

    /// A damaged draft gives an empty composer and a report.
    @Test func damagedDraftsAreReported() throws {
        let good = String(decoding: try engine().makeDraft().encoded(), as: UTF8.self)
        let damaged: [(String, DraftError)] = [
            ("", .unreadable), ("{}", .unreadable), ("[1]", .unreadable), (String(good.dropLast(9)), .unreadable),
            (good.replacing(#""version":1"#, with: #""version":7"#), .unknownVersion(7)),
            (good.replacing("hi Ann!", with: "hi Bob!"), .damaged), (good.replacing("hi Ann!", with: "h"), .damaged),
            (good.replacing(#""length":4"#, with: #""length":99"#), .damaged),
            (String(repeating: "[", count: 100_000), .unreadable),
        ]
        for (text, error) in damaged {
            var engine = ComposerEngine()
            let effects = engine.restore(encoded: Data(text.utf8))
            #expect(effects.contains(.refused(.draft(error))), "\(text.prefix(80))")
            #expect(engine.document.isEmpty)
        }
    }

    /// ⚠ SLK-39: restoring overwrote text set by code.
    @Test func whatIsThereWins() {
        let draft = engine().makeDraft()
        var other = ComposerEngine()
        _ = other.handle(.load(ComposerContent(text: "set by code")), at: .zero)
        #expect(other.restore(draft).contains(.refused(.draft(.inUse))))
        #expect(other.document.text == "set by code")
    }
}
