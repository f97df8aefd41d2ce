import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// How many of a message's reactions are shown.
@MainActor struct ShownReactionsTests {
    private func reactions(_ count: Int, own: Set<Int> = []) -> [MessageItem.Reaction] {
        (0..<count).map { MessageItem.Reaction(text: "\($0)", others: ["Ann"], isOwn: own.contains($0)) }
    }

    @Test("Up to 20 reactions are all shown.") func few() {
        for count in [0, 1, 20] {
            let shown = ShownReactions(reactions(count))
            #expect(shown.reactions == reactions(count) && shown.more == 0)
        }
    }

    @Test("Of more reactions the first ones are shown, and the number of the others.") func many() {
        let shown = ShownReactions(reactions(5000))
        #expect(shown.reactions == reactions(19) && shown.more == 4981)
    }

    @Test("The user's own reactions are shown, in their place.") func own() {
        let shown = ShownReactions(reactions(30, own: [3, 25]))
        #expect(shown.reactions.map(\.text) == ((0..<18).map { "\($0)" } + ["25"]) && shown.more == 11)
    }

    @Test("A screen reader says the shown reactions and the number of the others.") func accessibleText() {
        var item = MessageItem(message: .of(1), senderName: "Ann", isOwn: false, startsGroup: true, endsGroup: true)
        item.reactions = reactions(30)
        let texts = MessageText(.untranslated, time: { _ in "" }, fullDate: { _ in "" })
        let text = texts.accessibleText(item)
        #expect(text.contains("reacted with 18. 11 more reactions.") && !text.contains("reacted with 19"))
    }
}
