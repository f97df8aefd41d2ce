import CGtk
import ChatCore
import GtkKit

/// The collections of the Secret Service. The functions of libsecret that ``Keyring`` uses know items alone.
enum SecretCollections {
    private static let service = "org.freedesktop.secrets"
    private static let path = "/org/freedesktop/secrets"

    /// Whether the default collection, where ``Keyring`` stores credentials, is locked and lists no items. Then a
    /// search that finds nothing proves nothing: KeePassXC hides the items of a locked database. GNOME Keyring lists
    /// them.
    /// - Throws: ``CredentialStoreError/unavailable(reason:)``, or `CancellationError`.
    static func mayHideItems() async throws -> Bool {
        guard isServiceUsed else { return false }
        let collection = try await call(
            "ReadAlias", of: path, "org.freedesktop.Secret.Service", ["default"], objectPath)
        try Task.checkCancellation()
        // Without a default collection, there is nothing to be found.
        guard collection != "/", try await property("Locked", of: collection, bool) else { return false }
        try Task.checkCancellation()
        // A service may refuse to list the items of a locked collection.
        let items = try? await property("Items", of: collection, objectPaths)
        return items?.isEmpty ?? true
    }

    /// Whether libsecret uses the service. In a Flatpak it reads a file instead, which cannot be locked.
    private static var isServiceUsed: Bool {
        // Not `g_file_test`: newer GLib defines its flags in a way that Swift can't import.
        guard let sandbox = g_file_new_for_path("/.flatpak-info") else { return true }
        defer { g_object_unref(UnsafeMutableRawPointer(sandbox)) }
        if g_file_query_exists(sandbox, nil) != 0 || g_getenv("SNAP_NAME") != nil { return false }
        guard let backend = g_getenv("SECRET_BACKEND") else { return true }
        return ["", "service"].contains(String(cString: backend))
    }

    /// Reads a property of a collection.
    /// - Parameter read: Converts the value; returns `nil` if it has another type.
    private static func property<Value: Sendable>(
        _ name: String, of collection: String, _ read: @escaping @MainActor (OpaquePointer) -> Value?
    ) async throws -> Value {
        try await call(
            "Get", of: collection, "org.freedesktop.DBus.Properties", ["org.freedesktop.Secret.Collection", name]
        ) { (variant: OpaquePointer) -> Value? in
            guard g_variant_classify(variant) == G_VARIANT_CLASS_VARIANT, let inner = g_variant_get_variant(variant)
            else { return nil }
            defer { g_variant_unref(inner) }
            return read(inner)
        }
    }

    /// Calls a method of an object, with texts as its arguments.
    /// - Parameter read: Converts the first value of the response; returns `nil` if it has another type.
    private static func call<Value: Sendable>(
        _ method: String, of object: String, _ interface: String, _ arguments: [String],
        _ read: @escaping @MainActor (OpaquePointer) -> Value?
    ) async throws -> Value {
        guard let bus = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil) else {
            throw CredentialStoreError.unavailable(reason: "there is no session bus")
        }
        defer { g_object_unref(UnsafeMutableRawPointer(bus)) }
        return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let texts: [OpaquePointer?] = arguments.map { g_variant_new_string($0) }
            let tuple = g_variant_new_tuple(texts, gsize(texts.count))
            AsyncCall.start {
                g_dbus_connection_call(
                    bus, service, object, interface, method, tuple, nil, GDBusCallFlags(rawValue: 0), -1, nil, $0, $1)
            } _: { source, result in
                continuation.resume(with: Result { try value(of: source, result, read) })
            }
        }
    }

    /// The first value in a response.
    private static func value<Value>(
        of source: UnsafeMutableRawPointer?, _ result: OpaquePointer?, _ read: @MainActor (OpaquePointer) -> Value?
    ) throws -> Value {
        var error: UnsafeMutablePointer<GError>?
        let answer = source.flatMap { g_dbus_connection_call_finish(OpaquePointer($0), result, &error) }
        guard let answer else {
            // A D-Bus error message, free of user data.
            let reason = error.map { String(cString: $0.pointee.message) } ?? "no answer"
            g_clear_error(&error)
            throw CredentialStoreError.unavailable(reason: reason)
        }
        defer { g_variant_unref(answer) }
        guard g_variant_n_children(answer) > 0, let first = g_variant_get_child_value(answer, 0) else {
            throw malformed
        }
        defer { g_variant_unref(first) }
        guard let value = read(first) else { throw malformed }
        return value
    }

    private static var malformed: CredentialStoreError { .unavailable(reason: "the keyring's answer is malformed") }

    private static func bool(_ value: OpaquePointer) -> Bool? {
        g_variant_classify(value) == G_VARIANT_CLASS_BOOLEAN ? g_variant_get_boolean(value) != 0 : nil
    }

    private static func objectPath(_ value: OpaquePointer) -> String? {
        guard g_variant_classify(value) == G_VARIANT_CLASS_OBJECT_PATH, let path = g_variant_get_string(value, nil)
        else { return nil }
        return String(cString: path)
    }

    private static func objectPaths(_ value: OpaquePointer) -> [String]? {
        guard g_variant_classify(value) == G_VARIANT_CLASS_ARRAY else { return nil }
        var paths: [String] = []
        for index in 0..<g_variant_n_children(value) {
            guard let element = g_variant_get_child_value(value, index) else { return nil }
            defer { g_variant_unref(element) }
            guard let path = objectPath(element) else { return nil }
            paths.append(path)
        }
        return paths
    }
}
