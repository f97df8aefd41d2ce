/// The translatable texts of the typing indicator. `{0}` and `{1}` are placeholders for names (SLK-40, SLK-64).
public struct TypingPhrases: Hashable, Sendable, Codable {
    public var one: String
    public var two: String
    public var several: String

    public init(
        one: String = "{0} is typing…", two: String = "{0} & {1} are typing…",
        several: String = "Several people are typing…"
    ) {
        self.one = one
        self.two = two
        self.several = several
    }

    /// Returns the text for these names, or `nil` without any.
    public func text(for names: [String]) -> String? {
        switch names.count {
        case 0: nil
        case 1: Self.fill(one, names)
        case 2: Self.fill(two, names)
        default: several
        }
    }

    /// Substitutes in one pass, so that placeholders inside names stay literal.
    private static func fill(_ template: String, _ names: [String]) -> String {
        var result = ""
        var rest = template[...]
        while let brace = rest.firstIndex(of: "{") {
            result += rest[..<brace]
            rest = rest[brace...]
            if rest.hasPrefix("{0}") {
                result += names[0]
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("{1}"), names.count > 1 {
                result += names[1]
                rest = rest.dropFirst(3)
            } else {
                result.append("{")
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}

/// The other users who are typing, each until a deadline (SLK-40).
struct TypingUsers: Sendable, Equatable {
    private struct TypingUser: Sendable, Equatable {
        var name: String
        var deadline: Duration?
    }

    private var users: [TypingUser] = []

    /// The names, in the order in which they started typing.
    var names: [String] { users.map(\.name) }
    var deadline: Duration? { users.compactMap(\.deadline).min() }

    /// - Parameter timeout: how long the name stays without renewal; no limit if `nil` or not positive.
    mutating func started(_ name: String, at now: Duration, timeout: Duration?) {
        guard !name.isEmpty else { return }
        let deadline = timeout.flatMap { $0 > .zero ? now + $0 : nil }
        if let index = users.firstIndex(where: { $0.name == name }) {
            users[index].deadline = deadline
        } else {
            users.append(TypingUser(name: name, deadline: deadline))
        }
    }

    mutating func stopped(_ name: String) {
        users.removeAll { $0.name == name }
    }

    mutating func expire(at now: Duration) {
        users.removeAll { user in user.deadline.map { $0 <= now } ?? false }
    }
}
