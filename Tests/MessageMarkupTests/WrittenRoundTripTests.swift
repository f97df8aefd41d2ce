import ChatCore
import Composer
import Fuzzing
import MessageMarkup
import Testing

/// Round trip: a written text, the HTML sent for it, and the text to edit on another account keep mentions and styles.
struct WrittenRoundTripTests {
    @Test(arguments: 0..<8)
    func writtenTextSurvivesARoundTrip(seed: Int) throws {
        var texts = RandomMarkup(SeededBytes(seed: UInt64(seed)))
        for _ in 0..<200 {
            let next = texts.nextWritten()
            let text = try #require(next)
            guard let html = MessageMarkup.html(of: text) else { continue }
            let body = MessageMarkup.body(of: text)
            let received = MessageMarkup.body(html: html)
            #expect(named(in: received) == named(in: body).filter { $0.target.link != nil }, "\(text)")
            let everyone = body.mentions.contains(.everyone)
            let (edited, losses) = MessageMarkup.written(html: html, mentionsEveryone: everyone)
            guard losses.isEmpty else { continue }
            let again = MessageMarkup.body(of: edited)
            #expect(named(in: again).filter { $0.target.link != nil } == named(in: received), "\(text)\n\(edited)")
            // A second round trip changes nothing.
            guard let second = MessageMarkup.html(of: edited) else { continue }
            let twice = MessageMarkup.written(html: second, mentionsEveryone: everyone).text
            #expect(twice.mentions.map(\.target) == edited.mentions.map(\.target), "\(html)\n\(second)")
            let isSame = MessageMarkup.body(of: twice).readsLike(again)
            #expect(isSame, "\(html)\n\(second)")
        }
    }

    private struct Named: Equatable {
        var text: String
        var target: MentionTarget
    }

    /// The mentions in `body` with the text that names them.
    private func named(in body: MessageBody) -> [Named] {
        texts(in: body.blocks).flatMap { text in
            text.groups(by: \.mention).compactMap { group in
                group.key.map { target in
                    Named(
                        text: group.runs.reduce(into: "") { $0 += $1.text }.filter { !$0.isWhitespace }, target: target)
                }
            }
        }
    }

    private func texts(in blocks: [BodyBlock]) -> [InlineText] {
        blocks.flatMap { block -> [InlineText] in
            switch block {
            case .text(let text), .heading(_, let text): [text]
            case .code, .rule: []
            case .quote(let blocks): texts(in: blocks)
            case .list(let list): list.items.flatMap { texts(in: $0.blocks) }
            case .table(let table): [table.caption] + table.rows.flatMap { $0.map(\.text) }
            case .details(let summary, let blocks): [summary] + texts(in: blocks)
            }
        }
    }

    /// If half of the texts lost something, the round-trip test would skip them and check nothing.
    @Test func fewTextsLoseContent() throws {
        var texts = RandomMarkup(SeededBytes(seed: 99))
        var (sent, lossy) = (0, 0)
        for _ in 0..<1000 {
            let next = texts.nextWritten()
            let text = try #require(next)
            guard let html = MessageMarkup.html(of: text) else { continue }
            sent += 1
            if !MessageMarkup.written(html: html).losses.isEmpty { lossy += 1 }
        }
        #expect(sent > 500)
        #expect(lossy * 50 < sent)
    }
}
