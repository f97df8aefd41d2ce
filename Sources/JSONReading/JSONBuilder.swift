/// Builds a value from tokens, without recursion and with limits on depth and size.
struct JSONBuilder {
    private struct Frame {
        let isArray: Bool
        /// The index of its first value, and of its first key.
        let values: Int
        let keys: Int
    }

    /// The maximum nesting depth of containers.
    private let maxDepth: Int
    /// The maximum size of the value in bytes.
    private let maxBytes: Int
    private let emptiesTooDeep: Bool
    private var frames: [Frame] = []
    /// The values of all open containers, outermost first.
    private var values: [JSONValue] = []
    /// The keys of all open objects, and the key of the next value.
    private var keys: [String] = []
    /// The approximate size of the value in bytes.
    private var bytes = 0
    /// The number of open containers that are too deep and dropped.
    private var tooDeep = 0

    /// - Parameter emptiesTooDeep: Whether containers beyond the maximum depth are replaced by null instead of throwing
    ///   an error.
    init(maxDepth: Int, maxBytes: Int, emptiesTooDeep: Bool) {
        self.maxDepth = maxDepth
        self.maxBytes = maxBytes
        self.emptiesTooDeep = emptiesTooDeep
    }

    /// Whether the current container is dropped.
    var isLeavingOut: Bool { tooDeep > 0 }

    /// - Returns: The root value when it is complete.
    /// - Throws: ``JSONError/tooDeep``, ``JSONError/tooLong(limit:)``.
    mutating func add(_ token: consuming JSONToken) throws(JSONError) -> JSONValue? {
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
        if bytes > maxBytes { throw .tooLong(limit: maxBytes) }
        return nil
    }

    private mutating func begin(isArray: Bool) throws(JSONError) {
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

    // Values are swapped out of the stacks: copying would retain and release each string.

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
        // The last of duplicate keys wins.
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
