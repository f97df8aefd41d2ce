import CGtk

/// The objects of a `.ui` file in the resources.
///
/// A missing file or ID is a programming error: both trap with the name.
public final class Builder: Object {
    /// - Parameter resource: The path within the registered resources.
    public convenience init(resource: String) {
        self.init(owning: UnsafeMutableRawPointer(gtk_builder_new()))
        var error: UnsafeMutablePointer<GError>?
        guard gtk_builder_add_from_resource(cast(), resource, &error) != 0 else {
            fatalError("\(resource): \(consumeErrorMessage(&error))")
        }
    }

    /// Loads from a string instead of a resource, for tests and tools.
    public convenience init(text: String) {
        self.init(owning: UnsafeMutableRawPointer(gtk_builder_new()))
        var error: UnsafeMutablePointer<GError>?
        guard gtk_builder_add_from_string(cast(), text, -1, &error) != 0 else {
            fatalError("ui text: \(consumeErrorMessage(&error))")
        }
    }

    public subscript<T: Object>(_ id: String, _ type: T.Type = T.self) -> T {
        guard let object = gtk_builder_get_object(cast(), id) else { fatalError("no object \(id) in the ui file") }
        return T(borrowing: UnsafeMutableRawPointer(object))
    }
}

/// Returns the message of the GError and frees it.
func consumeErrorMessage(_ error: inout UnsafeMutablePointer<GError>?) -> String {
    defer { g_clear_error(&error) }
    return error.map { String(cString: $0.pointee.message) } ?? "unknown error"
}
