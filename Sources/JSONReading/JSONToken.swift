/// A token of a JSON document.
enum JSONToken {
    case beginObject
    case beginArray
    /// The end of the innermost object or array.
    case end
    case key(String)
    /// A null, boolean, number or string.
    case scalar(JSONValue)
}
