import Composer
import Foundation
import Fuzzing
import Testing

/// HKW-60, HKW-61: after any edit, a mention's text equals the document's text in its range.
///
/// `MENTION_EDITS=1000000 build-aux/test MentionPropertyTests` makes a million edits in total.
struct MentionPropertyTests {
    private static let edits = ProcessInfo.processInfo.environment["MENTION_EDITS"].flatMap { Int($0) } ?? 24_000
    /// The number of edits for each combination of options.
    private static let steps = edits / (MentionBackspace.allCases.count * MentionTrim.allCases.count) + 1

    /// Returns a text in which every other word is a mention.
    private static func content(_ names: [String]) -> WrittenText {
        let mentions = names.enumerated().map { number, name in
            Mention(.custom("u\(number)"), text: name, short: String(name.prefix(2)))
        }
        return WrittenText(names.map { $0 + " and 👩‍💻 " }.joined(), mentioning: mentions)
    }

    private static func event(_ random: inout SeededBytes, _ engine: ComposerEngine) -> ComposerEvent {
        let length = engine.document.length
        let start = Int(random.next() ?? 0) % (length + 1)
        let range = TextRange(location: start, length: Int(random.next() ?? 0) % 8)
        switch Int(random.next() ?? 0) % 12 {
        case 0, 1: return .edit(range, replacement: ["x", "é", "\u{301}", "👍🏽", "two words"][start % 5], origin: .typed)
        case 2: return .edit(range, replacement: "", origin: .typed)
        case 3: return .select(range)
        case 4: return .deleteBackward(byWord: start % 5 == 0)
        case 5: return .deleteForward(byWord: start % 5 == 0)
        case 6: return .undo
        case 7: return .redo
        case 8: return start % 2 == 0 ? .cut : .copy
        case 9: return .pasteInternalClipboard
        case 10: return .acceptEntity(CompletionEntity(id: "a", name: "Ann Lee", short: "Ann"))
        default: return .insert("@", origin: .typed)
        }
    }

    @Test(arguments: MentionBackspace.allCases, MentionTrim.allCases)
    func mentionTextMatchesTheDocument(behaviour: MentionBackspace, trim: MentionTrim) {
        var engine = ComposerEngine(
            configuration: .completing {
                $0.mentionBackspace = behaviour
                $0.mentionTrim = trim
            })
        var random = SeededBytes(seed: UInt64(behaviour.rawValue.count * 31 + trim.rawValue.count))
        var checked = 0
        for step in 0..<Self.steps {
            if engine.document.length > 300 || step.isMultiple(of: 400) {
                _ = engine.handle(.load(Self.content(["@Ann Lee", "Zoë", "李娜 王", "@b👩‍💻 c"])), at: .zero)
            }
            _ = engine.handle(Self.event(&random, engine), at: .zero)
            for span in engine.document.mentions {
                checked += 1
                if span.mention?.text != engine.document.text(in: span.range) {
                    Issue.record("step \(step): \(span)")
                    return
                }
            }
        }
        #expect(checked > Self.steps, "there were mentions to look at")
    }
}
