import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Reading and changing the push rules of rooms and keywords.
@Suite struct PushRuleSettingsTests {
    private typealias Change = PushRuleSettings.Change
    private let room = RoomID("!room")

    private func settings(_ global: JSONValue) -> PushRuleSettings { PushRuleSettings(["global": global]) }

    private static func mute(_ id: String = "!room", enabled: Bool = true, actions: JSONValue = []) -> JSONValue {
        [
            "rule_id": .string(id), "enabled": .bool(enabled), "actions": actions,
            "conditions": [["kind": "event_match", "key": "room_id", "pattern": "!room"]],
        ]
    }

    private static func roomRule(_ actions: JSONValue, enabled: Bool = true) -> JSONValue {
        ["rule_id": "!room", "enabled": .bool(enabled), "actions": actions]
    }

    private static let sound: JSONValue = ["set_tweak": "sound", "value": "default"]

    @Test(
        "A room's rule is recognized whichever client has written it",
        arguments: [
            ([:], nil),
            (["override": [mute()]], .nothing),
            (["override": [mute("other-client", actions: ["dont_notify"])]], .nothing),
            (["override": [mute(enabled: false)]], nil),
            (["override": [mute(actions: ["notify"])]], nil),
            (["override": [["rule_id": ".m.rule.master", "enabled": false, "conditions": [], "actions": []]]], nil),
            (["room": [roomRule([])]], .mentions),
            (["room": [roomRule(["dont_notify"])]], .mentions),
            (["room": [roomRule(["notify"])]], .all),
            (["room": [roomRule(["notify", sound], enabled: false)]], nil),
            (["override": [mute()], "room": [roomRule(["notify"])]], .nothing),
        ] as [(JSONValue, RoomNotificationRule?)])
    func readsRules(global: JSONValue, rule: RoomNotificationRule?) {
        #expect(settings(global).rule(of: room) == rule)
        #expect(settings(global).rule(of: RoomID("!other")) == nil)
        #expect(settings(global).settings.rooms[room] == rule)
    }

    @Test("Rooms whose IDs look the same have rules of their own")
    func similarRooms() {
        let ids = ["!\u{E9}", "!e\u{301}"]
        let condition: JSONValue = ["kind": "event_match", "key": "room_id", "pattern": .string(ids[1])]
        let settings = settings([
            "room": [["rule_id": .string(ids[0]), "actions": []]],
            "override": [["rule_id": "mute", "conditions": [condition], "actions": []]],
        ])
        let rules: [RoomNotificationRule?] = [.mentions, .nothing]
        #expect(ids.map { settings.rule(of: RoomID($0)) } == rules)
        #expect(ids.map { settings.settings.rooms[RoomID($0)] } == rules)
    }

    @Test("Setting a rule that is already set needs no changes", arguments: [nil] + RoomNotificationRule.allCases)
    func noChange(rule: RoomNotificationRule?) {
        let global: JSONValue =
            switch rule {
            case .nothing: ["override": [Self.mute()]]
            case .mentions: ["room": [Self.roomRule([])]]
            case .all: ["room": [Self.roomRule(["notify", Self.sound])]]
            case nil: [:]
            }
        #expect(settings(global).changes(to: rule, of: room).isEmpty)
    }

    @Test("The new rule is set before the former one is deleted")
    func changes() {
        let muted = settings(["override": [Self.mute("x")], "room": [Self.roomRule([], enabled: false)]])
        let all = muted.changes(to: .all, of: room)
        #expect(
            all == [
                .put(.room, id: "!room", ["actions": ["notify", Self.sound]]), .enable(.room, id: "!room"),
                .delete(.override, id: "x"),
            ])
        #expect(muted.changes(to: nil, of: room) == [.delete(.room, id: "!room"), .delete(.override, id: "x")])
        let mentions = settings(["room": [Self.roomRule([])]])
        let condition: JSONValue = ["kind": "event_match", "key": "room_id", "pattern": "!room"]
        #expect(
            mentions.changes(to: .nothing, of: room) == [
                .put(.override, id: "!room", ["conditions": [condition], "actions": []]),
                .delete(.room, id: "!room"),
            ])
        #expect(settings([:]).changes(to: .mentions, of: room) == [.put(.room, id: "!room", ["actions": []])])
    }

    @Test("Keywords are content rules of the user, without regard to case")
    func keywords() {
        let rules = settings([
            "content": [
                ["rule_id": ".m.rule.contains_user_name", "pattern": "me", "actions": ["notify"]],
                ["rule_id": "Tea", "pattern": "Tea", "actions": ["notify"]],
                ["rule_id": "off", "pattern": "Off", "enabled": false, "actions": ["notify"]],
            ]
        ])
        #expect(rules.settings.keywords == ["Tea"])
        #expect(rules.changes(adding: "tea").isEmpty)
        #expect(rules.changes(removing: "TEA") == [.delete(.content, id: "Tea")])
        #expect(rules.changes(removing: "coffee").isEmpty)
        let highlight: JSONValue = ["notify", ["set_tweak": "highlight"], Self.sound]
        let added = rules.changes(adding: "a/b")
        #expect(added == [.put(.content, id: "a_b", ["pattern": "a/b", "actions": highlight])])
        #expect(rules.changes(adding: "off").last == .enable(.content, id: "off"))
        guard case .put(_, let id, _)? = rules.changes(adding: ".net").first else {
            Issue.record("no rule")
            return
        }
        #expect(id == "_.net", "those with a dot are the server's")
    }

    @Test("A keyword does not replace another one whose rule has the same ID")
    func similarKeywords() {
        func id(of keyword: String, among rules: [JSONValue]) -> String? {
            guard case .put(_, let id, _)? = settings(["content": .array(rules)]).changes(adding: keyword).first else {
                return nil
            }
            return id
        }
        func rule(_ id: JSONValue, _ pattern: JSONValue) -> JSONValue {
            ["rule_id": id, "pattern": pattern, "enabled": false, "actions": ["notify"]]
        }
        #expect(id(of: "a/b", among: [rule("a_b", "a_b")]) == "a_b_2")
        #expect(id(of: "a/b", among: [rule("a_b", "a_b"), rule("a_b_2", "a\\b")]) == "a_b_3")
        #expect(id(of: "a/b", among: [rule("a_b", "A/B")]) == "a_b", "its own rule is enabled again")
    }

    @Test(
        "A rule is deleted if another device has already done so, but not by a proxy that does not know the request",
        arguments: ["M_NOT_FOUND", "M_UNRECOGNIZED"])
    func deletedRule(code: String) async throws {
        let rules: JSONValue = ["global": ["room": [Self.roomRule([])]]]
        let transport = FakeTransport.responding { request in
            request.method == .get ? rules : ["errcode": .string(code), "status": 404]
        }
        let context = AccountContext.untranslated(of: AccountParts.own)
        let changing = NotificationRules(client: transport.client, context: context)
        if code == "M_NOT_FOUND" {
            try await changing.set(nil, of: room)
        } else {
            await #expect(throws: ChatError.notFound) { try await changing.set(nil, of: room) }
        }
        #expect(transport.requests.map(\.method) == [.get, .delete])
    }
}
