import ChatCore
import JSONReading

extension [String: JSONValue] {
    /// The member with exactly this name. The subscript also finds canonically equivalent names.
    func member(_ name: ExactText) -> JSONValue? {
        guard let index = index(forKey: name.text), self[index].key.utf8.elementsEqual(name.bytes) else { return nil }
        return self[index].value
    }
}

extension JSONValue {
    var exactText: ExactText? { string.map { ExactText($0) } }
}
