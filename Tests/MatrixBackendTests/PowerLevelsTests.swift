import ChatCore
import ChatStore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// Permissions from `m.room.power_levels`.
struct PowerLevelsTests {
    private let ann = MemberID("@ann:x")
    private let bo = MemberID("@bo:x")

    private func powers(_ content: JSONValue?, version: JSONValue = "10", by creator: String = "@ann:x") -> PowerLevels
    {
        let created: JSONValue = ["room_version": version, "additional_creators": ["@carl:x", 5]]
        return PowerLevels(content, creation: creation(created, creator))
    }

    private func creation(_ content: JSONValue, _ creator: String = "@ann:x") -> RoomState.Creation {
        RoomState.Creation(by: MemberID(creator), content, at: Date(timeIntervalSince1970: 0))
    }

    @Test func powerLevelsDetermineRolesAndPermissions() {
        let powers = powers([
            "users": ["@ann:x": 100, "@bo:x": "50", "@dan:x": [:]], "users_default": 0, "events": ["m.room.topic": 50],
            "state_default": 75, "invite": 10, "kick": 50,
        ])
        #expect(powers.role(of: ann) == .administrator && powers.role(of: bo) == .moderator)
        #expect(powers.role(of: MemberID("@dan:x")) == .member && powers.role(of: MemberID("@eve:x")) == .member)
        #expect(powers.maySend(state: "m.room.topic", bo) && !powers.maySend(state: "m.room.name", bo))
        #expect(powers.mayInvite(bo) && !powers.mayInvite(MemberID("@eve:x")))
        #expect(powers.mayRemove(bo, ann) && !powers.mayRemove(ann, bo) && !powers.mayRemove(ann, ann))
        #expect(powers.mayRemove(MemberID("@eve:x"), bo) && !powers.mayRemove(bo, bo))
    }

    /// `@room` requires power level 50 unless `notifications.room` says otherwise.
    @Test(arguments: [(nil, 50, true), (nil, 49, false), (0, 0, true), (60, 50, false)] as [(Int64?, Int64, Bool)])
    func roomMentionRequiresAPowerLevel(needed: Int64?, level: Int64, may: Bool) {
        var content: [String: JSONValue] = ["users": ["@bo:x": .integer(level)]]
        if let needed { content["notifications"] = ["room": .integer(needed)] }
        #expect(powers(.object(content)).mayNotifyEveryone(bo) == may)
    }

    /// Since room version 12, creators have infinite power.
    @Test(arguments: [("12", true), ("11", false), ("org.example.odd", false)])
    func creatorsHaveInfinitePower(_ version: String, _ isAbove: Bool) {
        let powers = powers(["users": ["@bo:x": 100], "state_default": 50], version: .string(version))
        #expect((powers.role(of: ann) == .administrator) == isAbove)
        #expect((powers.role(of: MemberID("@carl:x")) == .administrator) == isAbove)
        #expect(powers.mayRemove(bo, ann) == isAbove && powers.mayRemove(ann, bo) != isAbove)
    }

    @Test func withoutPowerLevelsOnlyTheCreatorIsAdministrator() {
        #expect(powers(nil).role(of: ann) == .administrator && powers(nil).role(of: bo) == .member)
        #expect(!powers(nil).maySend(state: "m.room.name", bo) && powers(nil).mayInvite(bo))
        #expect(PowerLevels(nil, creation: nil).role(of: ann) == .member)
    }

    /// Since room version 12, the creators' `@room` notifies, whatever the power levels say.
    @Test func creatorsMayNotifyEveryone() {
        let content: JSONValue = ["users": ["@ann:x": 0], "notifications": ["room": 100]]
        #expect(powers(content, version: "12").mayNotifyEveryone(ann) && !powers(content).mayNotifyEveryone(ann))
        #expect(powers(content, version: "12").mayNotify("room", MemberID("@carl:x")))
        #expect(powers(nil).mayNotifyEveryone(ann) && !powers(nil).mayNotifyEveryone(bo))
    }

    private static let neededLevels: [(JSONValue, RoomHeadline.MessageKinds)] = [
        ([:], []), (["events_default": 1], [.unencrypted, .encrypted]),
        (["events_default": 50, "users": ["@bo:x": 49]], [.unencrypted, .encrypted]),
        (["events_default": 50, "users": ["@bo:x": 50]], []), (["events_default": 50, "users_default": 50], []),
        (["users": ["@bo:x": .integer(-1)]], [.unencrypted, .encrypted]),
        (["events_default": 50, "events": ["m.room.message": 0]], .encrypted),
        (["events_default": 50, "events": ["m.room.encrypted": "0"]], .unencrypted),
        (["events": ["m.room.message": 1, "m.reaction": 50]], .unencrypted),
    ]

    @Test("Messages need the level of their type, or else that of all types", arguments: neededLevels)
    func messagesNeedALevel(content: JSONValue, forbidden: RoomHeadline.MessageKinds) {
        #expect(powers(content).forbiddenMessages(for: bo) == forbidden)
    }

    @Test("Creators with infinite power may send messages, whatever the power levels say", arguments: ["11", "12"])
    func creatorsMaySendMessages(_ version: String) {
        let hasInfinitePower = version == "12"
        let unlisted = powers(["events_default": 100], version: .string(version))
        #expect(unlisted.forbiddenMessages(for: MemberID("@carl:x")).isEmpty == hasInfinitePower)
        #expect(unlisted.forbiddenMessages(for: ann).isEmpty && !unlisted.forbiddenMessages(for: bo).isEmpty)
        let listed = powers(["events_default": 100, "users": ["@ann:x": 50]], version: .string(version))
        #expect(listed.forbiddenMessages(for: ann).isEmpty == hasInfinitePower)
    }

    @Test("Unknown and malformed power levels forbid no messages")
    func uncertainPowerLevelsForbidNothing() {
        for wrong: JSONValue in [.null, "x", [], true, .number(1e300)] {
            let contents: [JSONValue] = [
                wrong, ["events_default": wrong], ["events_default": 50, "users": wrong],
                ["events_default": 50, "users_default": wrong], ["events_default": 50, "users": ["@bo:x": wrong]],
                ["events_default": 50, "events": wrong],
                ["events_default": 50, "events": ["m.room.message": wrong, "m.room.encrypted": wrong]],
            ]
            for content in contents { #expect(powers(content).forbiddenMessages(for: bo).isEmpty, "\(content)") }
        }
        #expect(powers(nil).forbiddenMessages(for: bo).isEmpty)
        #expect(PowerLevels(["events_default": 50], creation: nil).forbiddenMessages(for: bo).isEmpty)
    }

    @Test func malformedCreationGrantsNothing() {
        for version: JSONValue in [.null, 12, "twelve", "", ["12"], .number(12)] {
            #expect(creation(["room_version": version]).privileged.isEmpty, "\(version)")
        }
        let others: [JSONValue] = [.null, "@carl:x", ["@carl:x": [:]], ["", "carl", 5, "@carl:x @dan:x", .null]]
        for others in others {
            let made = creation(["room_version": "12", "additional_creators": others])
            #expect(made.privileged == [ann], "\(others)")
        }
    }

    /// Stored text that was damaged is not like a room without power levels, in which the creator may do everything.
    @Test(arguments: ["", "{", "null", "[]", "5"]) func damagedPowerLevelsGrantNothing(text: String) {
        var state = RoomState()
        state.creation = creation(["room_version": "10"])
        #expect(PowerLevels(of: state).mayNotifyEveryone(ann))
        state.powerLevels = text
        #expect(!PowerLevels(of: state).mayNotifyEveryone(ann))
        #expect(PowerLevels(of: state).forbiddenMessages(for: bo).isEmpty)
        state.creation = creation(["room_version": "12"])
        #expect(PowerLevels(of: state).mayNotifyEveryone(ann))
    }

    @Test func malformedPowerLevelsGrantNothing() {
        let wrong: [JSONValue] = [.null, "x", [], [:], true, .number(1e300)]
        let content: JSONValue = [
            "users": ["@bo:x": 100], "events": ["m.room.name": 60], "users_default": 0, "kick": 50,
        ]
        for content in content.mutations(with: wrong) {
            let powers = powers(content)
            #expect(powers.role(of: MemberID("@eve:x")) == .member)
            #expect(!powers.maySend(state: "m.room.name", MemberID("@eve:x")))
        }
    }
}
