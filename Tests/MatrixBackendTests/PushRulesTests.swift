import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Notification levels according to the account's push rules.
@Suite struct PushRulesTests {
    private let room = PushRoom(
        id: RoomID("!room"), ownUserID: MemberID("@me:example.org"), ownDisplayName: "Robin", memberCount: 3,
        powers: PowerLevels(["users": ["@ann:example.org": 50], "notifications": ["room": 50]], creation: nil))

    private func attention(
        _ rules: JSONValue, to content: JSONValue = ["body": "Hello"], by sender: String = "@bob:example.org",
        type: String = "m.room.message"
    ) throws -> NotificationLevel {
        let event = try #require(MatrixEvent(Events.event("$e", type, content, by: sender)))
        return PushRules(["global": rules]).notificationLevel(to: event, in: room)
    }

    private static let notify: JSONValue = ["notify"]
    private static let light: JSONValue = ["notify", ["set_tweak": "highlight"]]

    private static func rule(
        _ conditions: JSONValue, _ actions: JSONValue = notify, id: String = "r", enabled: Bool = true
    ) -> JSONValue {
        ["rule_id": .string(id), "conditions": conditions, "actions": actions, "enabled": .bool(enabled)]
    }

    /// Each case: a condition, the event's content, its sender, and whether the condition matches.
    static let conditions: [(JSONValue, JSONValue, String, Bool)] = [
        (["kind": "event_match", "key": "type", "pattern": "m.room.*"], [:], "@bob:example.org", true),
        (["kind": "event_match", "key": "type", "pattern": "m.room.me?sage"], [:], "@bob:example.org", true),
        (["kind": "event_match", "key": "type", "pattern": "m.room"], [:], "@bob:example.org", false),
        (
            ["kind": "event_match", "key": "content.body", "pattern": "lunch"], ["body": "It is LUNCH time"], "@b:a",
            true
        ),
        (["kind": "event_match", "key": "content.body", "pattern": "lunch"], ["body": "lunchtime"], "@b:a", false),
        (["kind": "event_match", "key": "content.body", "pattern": "lu*"], ["body": "at lunchtime?"], "@b:a", true),
        (["kind": "event_match", "key": "content.body", "pattern": "!x"], ["body": "a!x"], "@b:a", false),
        (["kind": "event_match", "key": "content.body", "pattern": "lunch"], ["body": 5], "@b:a", false),
        (["kind": "event_match", "key": "content.a\\.b", "pattern": "c"], ["a.b": "c"], "@b:a", true),
        (["kind": "event_match", "key": "content.a.b", "pattern": "c"], ["a": ["b": "C"]], "@b:a", true),
        (["kind": "event_match", "key": "room_id", "pattern": "!room"], [:], "@b:a", true),
        (["kind": "event_match", "key": "content.body"], ["body": "x"], "@b:a", false),
        (["kind": "event_property_is", "key": "content.n", "value": 5], ["n": 5], "@b:a", true),
        (["kind": "event_property_is", "key": "content.n", "value": 5], ["n": "5"], "@b:a", false),
        (["kind": "event_property_is", "key": "content.n", "value": .null], ["n": .null], "@b:a", true),
        (["kind": "event_property_is", "key": "content.n", "value": [1]], ["n": [1]], "@b:a", false),
        (["kind": "event_property_contains", "key": "content.l", "value": "a"], ["l": ["b", "a"]], "@b:a", true),
        (["kind": "event_property_contains", "key": "content.l", "value": "A"], ["l": ["b", "a"]], "@b:a", false),
        (["kind": "event_property_contains", "key": "content.l", "value": "a"], ["l": "a"], "@b:a", false),
        (["kind": "contains_display_name"], ["body": "ask robin, please"], "@b:a", true),
        (["kind": "contains_display_name"], ["body": "Robinson"], "@b:a", false),
        (["kind": "room_member_count", "is": "3"], [:], "@b:a", true),
        (["kind": "room_member_count", "is": "==2"], [:], "@b:a", false),
        (["kind": "room_member_count", "is": "<4"], [:], "@b:a", true),
        (["kind": "room_member_count", "is": ">=4"], [:], "@b:a", false),
        (["kind": "room_member_count", "is": "=>3"], [:], "@b:a", false),
        (["kind": "room_member_count", "is": "many"], [:], "@b:a", false),
        (["kind": "sender_notification_permission", "key": "room"], [:], "@ann:example.org", true),
        (["kind": "sender_notification_permission", "key": "room"], [:], "@bob:example.org", false),
        (["kind": "org.example.new"], [:], "@b:a", false), ("nonsense", [:], "@b:a", false), ([:], [:], "@b:a", false),
    ]

    @Test(arguments: conditions) func conditionsMatch(
        _ condition: JSONValue, _ content: JSONValue, _ sender: String, _ holds: Bool
    ) throws {
        let told = try attention(["override": [Self.rule([condition])]], to: content, by: sender)
        #expect(told == (holds ? .unread : .none))
    }

    @Test func firstMatchingRuleApplies() throws {
        let silent: JSONValue = []
        func kinds(_ override: JSONValue, _ content: JSONValue, _ room: JSONValue, _ sender: JSONValue) throws
            -> NotificationLevel
        {
            func rules(_ actions: JSONValue, id: String, _ more: [String: JSONValue] = [:]) -> JSONValue {
                if actions == .null { return [] }
                let rule: [String: JSONValue] = ["rule_id": .string(id), "actions": actions]
                return [.object(rule.merging(more) { _, new in new })]
            }
            return try attention([
                "override": rules(override, id: "o", ["conditions": []]),
                "content": rules(content, id: "c", ["pattern": "hello"]), "room": rules(room, id: "!room"),
                "sender": rules(sender, id: "@bob:example.org"),
                "underride": [Self.rule([], Self.notify)],
            ])
        }
        #expect(try kinds(.null, .null, .null, .null) == .unread)
        #expect(try kinds(.null, .null, .null, Self.light) == .mention)
        #expect(try kinds(.null, .null, silent, Self.light) == .none)
        #expect(try kinds(.null, Self.light, silent, .null) == .mention)
        #expect(try kinds(silent, Self.light, Self.notify, Self.notify) == .none)
    }

    @Test func disabledAndMalformedRulesAreSkipped() throws {
        #expect(try attention(["override": [Self.rule([], Self.light, enabled: false), Self.rule([])]]) == .unread)
        #expect(try attention(["override": ["x", ["rule_id": 5], Self.rule([])]]) == .unread)
        #expect(try attention(["override": [Self.rule([], ["dont_notify"]), Self.rule([])]]) == .none)
        let unhighlighted: JSONValue = ["notify", ["set_tweak": "highlight", "value": false]]
        #expect(try attention(["override": [Self.rule([], unhighlighted)]]) == .unread)
        #expect(try attention(["override": [Self.rule([], [["set_tweak": "highlight"]])]]) == .none, "not told of")
        #expect(try attention(["override": [Self.rule([])]], by: "@me:example.org") == .none, "one's own")
        for broken: JSONValue in [.null, "x", [], ["override": "x"]] { #expect(try attention(broken) == .none) }
    }

    /// A reply fallback contains the name of the quoted message's sender.
    @Test func namesInTextAreNotMentionsIfMentionsAreExplicit() throws {
        let saysName: JSONValue = [["kind": "contains_display_name"]]
        let saysRoom: JSONValue = [["kind": "event_match", "key": "content.body", "pattern": "@room"]]
        let user: JSONValue = ["rule_id": ".m.rule.contains_user_name", "pattern": "robin", "actions": Self.light]
        let old: [JSONValue] = [
            ["override": [Self.rule(saysName, Self.light, id: ".m.rule.contains_display_name")]],
            ["override": [Self.rule(saysRoom, Self.light, id: ".m.rule.roomnotif")]], ["content": [user]],
        ]
        let body: JSONValue = "> Robin said: @room!"
        let own: JSONValue = ["override": [Self.rule(saysName, Self.light, id: "robin")]]
        for rules in old + [own] { #expect(try attention(rules, to: ["body": body]) == .mention) }
        for mentions: JSONValue in [[:], .null, ["user_ids": ["@ann:example.org"]]] {
            let content: JSONValue = ["body": body, "m.mentions": mentions]
            for rules in old { #expect(try attention(rules, to: content) == .none) }
            #expect(try attention(own, to: content) == .mention, "a rule of the user's")
        }
    }

    @Test func standardRulesApplyUntilRulesAreKnown() throws {
        func told(_ content: JSONValue, by sender: String = "@bob:example.org") throws -> NotificationLevel {
            let event = try #require(MatrixEvent(Events.event("$e", "m.room.message", content, by: sender)))
            return PushRules.standard.notificationLevel(to: event, in: room)
        }
        #expect(try told(["body": "x"]) == .unread)
        #expect(try told(["body": "x", "m.mentions": ["user_ids": ["@ann:a", "@me:example.org"]]]) == .mention)
        #expect(try told(["body": "x", "m.mentions": ["room": true]]) == .unread, "Bob may not call everyone")
        #expect(try told(["body": "x", "m.mentions": ["room": true]], by: "@ann:example.org") == .mention)
    }

    /// A pattern longer than any text to match fails immediately.
    @Test func overlongPatternsMatchNothing() {
        let long = String(repeating: "a", count: 200_000)
        for glob in [Glob(long), Glob(long, inWords: true), Glob(literal: long), Glob(long + "*")] {
            #expect(!glob.matches(long) && !glob.matches(""))
        }
        let longest = String(repeating: "a", count: Glob.maxLength)
        #expect(Glob(longest).matches(longest) && Glob(longest, inWords: true).matches("x \(longest) y"))
    }

    @Test func patternsWithoutWildcardsMatchTheWholeText() {
        for glob in [Glob("!Room:a"), Glob(literal: "!Room:a")] {
            #expect(glob.matches("!rooM:a"))
            for other in ["", "!room:", "!room:ab", "x!room:a"] { #expect(!glob.matches(other)) }
        }
        #expect(Glob(literal: "*a?").matches("*A?") && !Glob(literal: "*a?").matches("xab"))
    }

    /// Matching takes at most O(pattern × text).
    @Test func patternsWithManyWildcardsTerminate() {
        let glob = Glob(String(repeating: "*a", count: 200) + "b", inWords: true)
        #expect(!glob.matches(String(repeating: "a", count: 5000)))
        #expect(Glob("**", inWords: false).matches("") && Glob("", inWords: false).matches(""))
        #expect(!Glob("?").matches("") && Glob("?").matches("é"))
    }
}
