import ChatCore
import Foundation
import Testing

@testable import ChatViewModels

@Suite("the changes of an edit")
struct MessageVersionTests {
    @Test("whole words are removed and added in place")
    func wholeWordsAreCompared() {
        #expect(
            MessageVersion.difference(from: "We meet at noon.", to: "We meet at nine, today.") == [
                .init("We meet at ", .unchanged), .init("noon", .removed), .init("nine, today", .added),
                .init(".", .unchanged),
            ])
        #expect(MessageVersion.difference(from: "same", to: "same") == [.init("same", .unchanged)])
        #expect(MessageVersion.difference(from: "", to: "new") == [.init("new", .added)])
        #expect(MessageVersion.difference(from: "old", to: "") == [.init("old", .removed)])
    }

    @Test("unchanged and removed parts make the old text, unchanged and added parts the new one")
    func segmentsRebuildBothVersions() {
        var random = SystemRandomNumberGenerator()
        let parts = ["a", "b", " ", "\n", "é", "👩‍👩‍👧", ",", "日本", "word"]
        for _ in 0..<500 {
            func text() -> String {
                (0..<Int.random(in: 0...12, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
                    .joined()
            }
            let (old, new) = (text(), text())
            let segments = MessageVersion.difference(from: old, to: new)
            #expect(segments.filter { $0.change != .added }.map(\.text).joined() == old)
            #expect(segments.filter { $0.change != .removed }.map(\.text).joined() == new)
        }
    }

    @Test("a text too long to compare is replaced as a whole")
    func longTextIsReplacedAsAWhole() {
        let old = String(repeating: "a ", count: MessageVersion.comparedWords)
        #expect(MessageVersion.difference(from: old, to: "b") == [.init(old, .removed), .init("b", .added)])
    }

    @Test("versions come newest first, and the oldest shows no changes")
    func versionsAreNewestFirst() async {
        let revisions = ["one", "one two", "two"].enumerated().map { index, text in
            MessageRevision(Wording(text), writtenAt: Date(timeIntervalSince1970: Double(index)))
        }
        let versions = await MessageVersion.versions(revisions)
        #expect(versions.map(\.writtenAt) == revisions.reversed().map(\.writtenAt))
        #expect(versions.last?.segments == [.init("one", .unchanged)])
        #expect(versions[0].segments == [.init("one ", .removed), .init("two", .unchanged)])
    }
}
