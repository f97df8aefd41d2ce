import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatArchive
@testable import ChatViewModels

/// Exports have their own list of English sentences, which must match the untranslated ones of the timeline.
@Suite struct ExportedEventTests {
    private static let texts = EventText(.untranslated)

    /// Each kind, without and with a new value.
    private static let events = RoomEvent.Kind.allCases.flatMap { kind in
        let values: [String] =
            switch kind {
            case .roleSet: ["administrator", "moderator", "member"]
            case .joinRuleSet: ["public", "invite"]
            case .guestAccessSet: ["can_join"]
            case .historyVisibilitySet: ["shared"]
            default: ["Tea"]
            }
        return ([nil] + values).map { RoomEvent(kind, before: kind == .renamed ? "Bob" : nil, after: $0) }
    }

    /// The sentence in an export, which sometimes differs from the timeline's on purpose.
    private static func expected(_ event: RoomEvent, _ timeline: String) -> String {
        switch (event.kind, event.after) {
        // “Missed call” makes no sense in an old history.
        case (.called, _): "Ada called"
        // The raw Matrix value, so that nothing is lost.
        case (.joinRuleSet, let value?): "Ada changed who can join: \(value)"
        case (.guestAccessSet, let value?): "Ada changed whether guests can join: \(value)"
        case (.historyVisibilitySet, let value?): "Ada changed who can read the message history: \(value)"
        default: timeline
        }
    }

    @Test(arguments: events)
    func exportAgreesWithTheTimeline(_ event: RoomEvent) {
        let line = EventGroup.Line(
            id: MessageID("e"), event: event, actor: .named("Ada"), subject: .named("Bo"), sentAt: Fixtures.date)
        #expect(event.sentence(by: "Ada", of: "Bo") == Self.expected(event, Self.texts.sentence(line)))
    }

    @Test func membersChangeTheirOwnRole() {
        let event = RoomEvent(.roleSet, after: "moderator")
        let line = EventGroup.Line(
            id: MessageID("e"), event: event, actor: .named("Ada"), subject: .named("Ada"), sentAt: Fixtures.date)
        #expect(event.sentence(by: "Ada", of: "Ada") == Self.texts.sentence(line))
    }
}
