import ChatCore
import Foundation

/// Names by which the members of a room are told apart (specification, calculating the display name for a user).
///
/// A change costs what it changes: those who bear its name, not those who are in the room.
struct MemberNames {
    /// As the server tells of them.
    private var members: [MemberID: Member] = [:]
    private var idsByName: [String: Set<MemberID>] = [:]

    init(_ members: [Member]) {
        for member in members {
            self.members[member.id] = member
            idsByName[Self.key(member), default: []].insert(member.id)
        }
    }

    static func disambiguated(_ members: [Member]) -> [Member] {
        let names = MemberNames(members)
        return members.map(names.named)
    }

    /// The member by the name that is shown.
    func named(_ member: Member) -> Member {
        guard member.displayName != member.id.rawValue,
            idsByName[Self.key(member)]?.count ?? 0 > 1 || Self.resemblesIdentifier(member.displayName)
        else { return member }
        var named = member
        named.displayName += " (\(member.id))"
        return named
    }

    /// - Returns: those of whom something else is shown from now on, by the names that are shown.
    mutating func update(_ changed: [Member]) -> [Member] {
        var touched: Set<MemberID> = []
        func touch(_ key: String) {
            // Of two one becomes the only one; of three nothing changes for the others.
            if let others = idsByName[key], others.count <= 2 { touched.formUnion(others) }
        }
        for member in changed {
            if let before = members[member.id] {
                idsByName[Self.key(before)]?.remove(member.id)
                touch(Self.key(before))
            }
            members[member.id] = member
            idsByName[Self.key(member), default: []].insert(member.id)
            touch(Self.key(member))
            touched.insert(member.id)
        }
        let order = changed.map(\.id) + touched.subtracting(changed.map(\.id)).sorted { $0.rawValue < $1.rawValue }
        var seen: Set<MemberID> = []
        return order.filter { seen.insert($0).inserted }.compactMap { members[$0].map(named) }
    }

    private static func key(_ member: Member) -> String {
        // Without what nobody sees.
        String(
            String.UnicodeScalarView(
                member.displayName.precomposedStringWithCompatibilityMapping.unicodeScalars
                    .filter { !$0.properties.isDefaultIgnorableCodePoint })
        ).lowercased()
    }

    /// Nobody is to pass for another by taking the other's identifier as a name.
    private static func resemblesIdentifier(_ name: String) -> Bool { name.hasPrefix("@") && name.contains(":") }
}
