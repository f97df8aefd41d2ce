import ChatCore

/// Puts a value together from its tokens, without recursion and within bounds.
struct JSONBuilder {
    private struct Frame {
        let isArray: Bool
        /// Where its values begin, and its keys.
        let values: Int
        let keys: Int
    }

    /// Objects and arrays within each other.
    private let maxDepth: Int
    private let emptiesTooDeep: Bool
    private var frames: [Frame] = []
    /// Of all open containers, one behind the other.
    private var values: [JSONValue] = []
    /// Of all open objects, and the one whose value comes next.
    private var keys: [String] = []
    /// What the value takes, about.
    private var bytes = 0
    /// Containers within each other that are left out.
    private var tooDeep = 0

    /// - Parameter emptiesTooDeep: whether null stands for what lies deeper, which is an error otherwise.
    init(maxDepth: Int, emptiesTooDeep: Bool) {
        self.maxDepth = maxDepth
        self.emptiesTooDeep = emptiesTooDeep
    }

    /// Whether what comes is left out.
    var isLeavingOut: Bool { tooDeep > 0 }

    /// - Returns: the value if it is whole.
    /// - Throws: ``ArchiveError/tooDeep``, ``ArchiveError/tooLong(limit:)``.
    mutating func add(_ token: consuming JSONToken) throws(ArchiveError) -> JSONValue? {
        switch consume token {
        case .scalar(let value):
            if tooDeep > 0 { return nil }
            if frames.isEmpty { return value }
            bytes += 16 + value.textLength
            values.append(value)
        case .key(let key):
            if tooDeep > 0 { return nil }
            bytes += key.utf8.count + 16
            keys.append(key)
        case .beginObject: try begin(isArray: false)
        case .beginArray: try begin(isArray: true)
        case .end: return end()
        }
        if bytes > JSONStream.maxBytes { throw .tooLong(limit: JSONStream.maxBytes) }
        return nil
    }

    private mutating func begin(isArray: Bool) throws(ArchiveError) {
        guard tooDeep == 0, frames.count < maxDepth else {
            guard emptiesTooDeep else { throw .tooDeep }
            tooDeep += 1
            return
        }
        bytes += 32
        frames.append(Frame(isArray: isArray, values: values.count, keys: keys.count))
    }

    private mutating func end() -> JSONValue? {
        if tooDeep > 0 {
            tooDeep -= 1
            if tooDeep == 0 { values.append(.null) }
            return nil
        }
        guard let last = frames.popLast() else { return nil }
        let value = last.isArray ? array(from: last.values) : object(from: last.values, last.keys)
        if frames.isEmpty { return value }
        values.append(value)
        return nil
    }

    // What leaves the stacks is swapped out: a copy would count one more reference to each text, and one less.

    private mutating func array(from start: Int) -> JSONValue {
        var members: [JSONValue] = []
        members.reserveCapacity(values.count - start)
        for index in start..<values.count {
            var value = JSONValue.null
            swap(&value, &values[index])
            members.append(value)
        }
        values.removeLast(values.count - start)
        return .array(members)
    }

    private mutating func object(from start: Int, _ firstKey: Int) -> JSONValue {
        var members = Dictionary<String, JSONValue>(minimumCapacity: values.count - start)
        // Of members with the same key the last one counts.
        for index in start..<values.count {
            var (key, value) = ("", JSONValue.null)
            swap(&key, &keys[firstKey + index - start])
            swap(&value, &values[index])
            members[key] = value
        }
        keys.removeLast(keys.count - firstKey)
        values.removeLast(values.count - start)
        return .object(members)
    }
}

extension JSONValue {
    fileprivate var textLength: Int { if case .string(let text) = self { text.utf8.count } else { 0 } }
}
