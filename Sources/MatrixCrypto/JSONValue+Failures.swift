import JSONReading

extension JSONValue {
    /// The `failures` of a response: empty if it names none. `nil` if they are malformed, which must not pass for none.
    var failures: [String: JSONValue]? {
        guard let failures = self["failures"], failures != .null else { return [:] }
        return failures.object
    }
}
