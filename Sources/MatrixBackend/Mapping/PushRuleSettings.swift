import ChatCore
import JSONReading

/// The settings for rooms and keywords in the user's push rules, and the requests that change them.
///
/// Follows the conventions of other clients: an override rule without actions mutes a room, a room rule without actions
/// leaves only mentions, and a content rule is a keyword.
struct PushRuleSettings: Equatable, Sendable {
    /// A request that changes one rule.
    enum Change: Equatable, Sendable {
        case put(Kind, id: String, JSONValue)
        case enable(Kind, id: String)
        case delete(Kind, id: String)
    }

    enum Kind: String, Sendable {
        case override, room, content
    }

    private static let sound: JSONValue = ["set_tweak": "sound", "value": "default"]

    private let global: JSONValue?

    /// - Parameter content: the content of the account data `m.push_rules`.
    init(_ content: JSONValue?) {
        global = content?["global"]
    }

    var settings: NotificationSettings {
        var settings = NotificationSettings(keywords: keywords)
        let mutes = rules(.override).compactMap(Self.mutedRoom)
        for room in Set(mutes + rules(.room).compactMap(Self.room)) { settings.rooms[room] = rule(of: room) }
        return settings
    }

    // MARK: Rooms

    /// The rule of a room, or `nil` if it has none of its own.
    func rule(of room: RoomID) -> RoomNotificationRule? {
        if mutes(of: room).contains(where: Self.isEnabled) { return .nothing }
        guard let rule = roomRule(of: room), Self.isEnabled(rule) else { return nil }
        return Self.notifies(rule) ? .all : .mentions
    }

    /// Returns the requests, in order, that set a room's rule. Between the requests, either the former or the new rule
    /// applies.
    func changes(to rule: RoomNotificationRule?, of room: RoomID) -> [Change] {
        guard rule != self.rule(of: room) else { return [] }
        let id = room.rawValue
        let unmuting = mutes(of: room).compactMap { $0["rule_id"]?.string }.map { Change.delete(.override, id: $0) }
        let existing = roomRule(of: room).map { _ in Change.delete(.room, id: id) }
        switch rule {
        case .nothing:
            let condition: JSONValue = ["kind": "event_match", "key": "room_id", "pattern": .string(id)]
            return put(.override, id, ["conditions": [condition], "actions": []]) + [existing].compactMap(\.self)
        case .mentions: return put(.room, id, ["actions": []]) + unmuting
        case .all: return put(.room, id, ["actions": ["notify", Self.sound]]) + unmuting
        case nil: return [existing].compactMap(\.self) + unmuting
        }
    }

    private func mutes(of room: RoomID) -> [JSONValue] {
        rules(.override).filter { Self.mutedRoom($0) == room }
    }

    private func roomRule(of room: RoomID) -> JSONValue? { rules(.room).first { Self.room($0) == room } }

    /// The room that a room rule is for.
    private static func room(_ rule: JSONValue) -> RoomID? { rule["rule_id"]?.string.map { RoomID($0) } }

    /// The room that an override rule mutes, if that is all it does.
    private static func mutedRoom(_ rule: JSONValue) -> RoomID? {
        guard !notifies(rule), let conditions = rule["conditions"]?.array, conditions.count == 1,
            conditions[0]["kind"]?.string == "event_match", conditions[0]["key"]?.string == "room_id"
        else { return nil }
        return conditions[0]["pattern"]?.string.map { RoomID($0) }
    }

    // MARK: Keywords

    private var keywords: [String] { keywordRules.filter(Self.isEnabled).compactMap { $0["pattern"]?.string } }

    /// Returns the requests that add a keyword.
    func changes(adding keyword: String) -> [Change] {
        let isThere = keywords.contains { $0.lowercased() == keyword.lowercased() }
        if isThere { return [] }
        let body: JSONValue = [
            "pattern": .string(keyword), "actions": ["notify", ["set_tweak": "highlight"], Self.sound],
        ]
        return put(.content, ruleID(of: keyword), body)
    }

    /// Returns the requests that remove a keyword, ignoring case.
    func changes(removing keyword: String) -> [Change] {
        keywordRules.filter { $0["pattern"]?.string?.lowercased() == keyword.lowercased() }
            .compactMap { $0["rule_id"]?.string }.map { .delete(.content, id: $0) }
    }

    /// The user's content rules, unlike the server's, whose IDs start with a dot.
    private var keywordRules: [JSONValue] {
        rules(.content).filter { $0["rule_id"]?.string?.hasPrefix(".") == false }
    }

    /// Rule IDs must not contain slashes or start with a dot. A number follows where another keyword has the same one,
    /// whose rule would be replaced.
    private func ruleID(of keyword: String) -> String {
        var id = String(keyword.map { $0 == "/" || $0 == "\\" ? "_" : $0 })
        if id.hasPrefix(".") { id = "_" + id }
        let others = rules(.content).filter { $0["pattern"]?.string?.lowercased() != keyword.lowercased() }
        let used = Set(others.compactMap { $0["rule_id"]?.string })
        guard used.contains(id) else { return id }
        var number = 2
        while used.contains("\(id)_\(number)") { number += 1 }
        return "\(id)_\(number)"
    }

    // MARK: Rules

    /// Sets a rule and enables it: an existing disabled rule would stay disabled.
    private func put(_ kind: Kind, _ id: String, _ body: JSONValue) -> [Change] {
        let isDisabled = rules(kind).contains { $0["rule_id"]?.string == id && !Self.isEnabled($0) }
        return [.put(kind, id: id, body)] + (isDisabled ? [.enable(kind, id: id)] : [])
    }

    private func rules(_ kind: Kind) -> [JSONValue] { global?[kind.rawValue]?.array ?? [] }

    private static func isEnabled(_ rule: JSONValue) -> Bool { rule["enabled"]?.bool ?? true }

    private static func notifies(_ rule: JSONValue) -> Bool { rule["actions"]?.array?.contains("notify") ?? false }
}
