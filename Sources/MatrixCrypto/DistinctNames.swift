import ChatCore

/// The names of a response's members, collected for the request. Of IDs that are canonically equivalent, such as those
/// with precomposed and decomposed é, it has one: the dictionary that a response is read into would make them one,
/// with the name of the one and the value of the other.
struct DistinctNames {
    private var names: [String: ExactText] = [:]

    /// Adds a name.
    /// - Returns: `false` if there is another one that is equivalent to it.
    mutating func add(_ name: ExactText) -> Bool {
        let text = name.text
        if let known = names[text] { return known == name }
        names[text] = name
        return true
    }
}
