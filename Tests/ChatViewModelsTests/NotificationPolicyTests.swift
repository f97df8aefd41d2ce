import ChatCore
import Testing

@testable import ChatViewModels

struct NotificationPolicyTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let change: @Sendable (inout NotificationPolicy.Situation) -> Void
        let decision: NotificationPolicy.Decision
    }

    private static let whole = NotificationPolicy.Decision.notification(
        .senderAndText, isImportant: false, playsSound: false)

    @Test(arguments: [
        Row(testDescription: "a message that counts as unread", change: { _ in }, decision: whole),
        Row(
            testDescription: "a mention", change: { $0.level = .mention },
            decision: .notification(.senderAndText, isImportant: true, playsSound: false)),
        Row(testDescription: "push rules say nothing", change: { $0.level = .none }, decision: .silence),
        Row(testDescription: "the user sees the room", change: { $0.isAttended = true }, decision: .silence),
        Row(
            testDescription: "a mention in a room that the user sees",
            change: { ($0.isAttended, $0.level) = (true, .mention) }, decision: .silence),
        Row(
            testDescription: "the room is open behind a locked screen",
            change: { ($0.isAttended, $0.isLocked) = (true, true) },
            decision: .notification(.sender, isImportant: false, playsSound: false)),
        Row(testDescription: "paused", change: { $0.preferences.isPaused = true }, decision: .silence),
        Row(
            testDescription: "a mention while paused",
            change: { ($0.preferences.isPaused, $0.level) = (true, .mention) }, decision: .silence),
        Row(
            testDescription: "the text is hidden", change: { $0.preferences.content = .sender },
            decision: .notification(.sender, isImportant: false, playsSound: false)),
        Row(
            testDescription: "sender and text are hidden", change: { $0.preferences.content = .nothing },
            decision: .notification(.nothing, isImportant: false, playsSound: false)),
        Row(
            testDescription: "the screen is locked", change: { $0.isLocked = true },
            decision: .notification(.sender, isImportant: false, playsSound: false)),
        Row(
            testDescription: "locked, with everything hidden",
            change: { ($0.isLocked, $0.preferences.content) = (true, .nothing) },
            decision: .notification(.nothing, isImportant: false, playsSound: false)),
        Row(
            testDescription: "with sound", change: { $0.preferences.playsSound = true },
            decision: .notification(.senderAndText, isImportant: false, playsSound: true)),
        Row(
            testDescription: "push rules ask for no sound",
            change: { ($0.preferences.playsSound, $0.isSilent) = (true, true) }, decision: whole),
        Row(
            testDescription: "while catching up", change: { $0.isMissed = true },
            decision: .summary(playsSound: false)),
        Row(
            testDescription: "while catching up, with sound",
            change: { ($0.isMissed, $0.preferences.playsSound) = (true, true) }, decision: .summary(playsSound: true)),
    ])
    func eachSituationHasItsDecision(row: Row) {
        var situation = NotificationPolicy.Situation()
        row.change(&situation)
        #expect(NotificationPolicy.decision(in: situation) == row.decision)
    }
}
