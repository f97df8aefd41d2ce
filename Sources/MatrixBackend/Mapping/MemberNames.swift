import ChatCore
import Foundation

/// Disambiguated display names of a room's members (specification, calculating the display name for a user).
///
/// An update takes time proportional to the members with the same name, not to the room's size.
struct MemberNames {
    /// Members with the names that the server returned.
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

    /// Returns the member with the displayed name.
    func named(_ member: Member) -> Member {
        guard member.displayName != member.id.rawValue,
            idsByName[Self.key(member)]?.count ?? 0 > 1 || Self.resemblesIdentifier(member.displayName)
        else { return member }
        var named = member
        named.displayName += " (\(member.id))"
        return named
    }

    /// - Returns: The members whose displayed name may have changed, with their displayed names.
    mutating func update(_ changed: [Member]) -> [Member] {
        var touched: Set<MemberID> = []
        func touch(_ key: String) {
            // Others with this name are affected only if it becomes, or stops being, unique.
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
        // Ignore invisible characters.
        String(
            String.UnicodeScalarView(
                member.displayName.precomposedStringWithCompatibilityMapping.unicodeScalars
                    .filter { !$0.properties.isDefaultIgnorableCodePoint })
        ).lowercased()
    }

    /// A display name that looks like a user ID could impersonate that user.
    private static func resemblesIdentifier(_ name: String) -> Bool { name.hasPrefix("@") && name.contains(":") }
}
