import CGtk

/// The settings of one GSettings schema.
public final class Settings: Object {
    /// Returns `nil` if the schema is not installed or lacks the key, for which GSettings would abort the process.
    public convenience init?(schema: String, with key: String? = nil) {
        guard let source = g_settings_schema_source_get_default(),
            let found = g_settings_schema_source_lookup(source, schema, 1)
        else { return nil }
        defer { g_settings_schema_unref(found) }
        if let key, g_settings_schema_has_key(found, key) == 0 { return nil }
        self.init(owning: UnsafeMutableRawPointer(g_settings_new(schema)))
    }

    public func string(_ key: String) -> String {
        guard let text = g_settings_get_string(cast(), key) else { return "" }
        defer { g_free(text) }
        return String(cString: text)
    }
    public func int(_ key: String) -> Int { Int(g_settings_get_int(cast(), key)) }
    public func bool(_ key: String) -> Bool { g_settings_get_boolean(cast(), key) != 0 }

    /// Whether the user has set a value, as opposed to the default.
    public func isSet(_ key: String) -> Bool {
        guard let value = g_settings_get_user_value(cast(), key) else { return false }
        g_variant_unref(value)
        return true
    }

    public func strings(_ key: String) -> [String] {
        guard let list = g_settings_get_strv(cast(), key) else { return [] }
        defer { g_strfreev(list) }
        return sequence(first: list, next: { $0 + 1 }).prefix { $0.pointee != nil }.compactMap { item in
            item.pointee.map { String(cString: $0) }
        }
    }

    public func set(_ key: String, _ value: String) { set(key, g_variant_new_string(value)) }
    public func set(_ key: String, _ value: Int) { set(key, g_variant_new_int32(gint(clamping: value))) }
    public func set(_ key: String, _ value: Bool) { set(key, g_variant_new_boolean(value ? 1 : 0)) }

    public func set(_ key: String, _ values: [String]) {
        var pointers: [UnsafePointer<CChar>?] = values.map { UnsafePointer(g_strdup($0)) }
        defer { pointers.forEach { g_free(UnsafeMutableRawPointer(mutating: $0)) } }
        set(key, g_variant_new_strv(&pointers, pointers.count))
    }

    /// Writes nothing if the value is already set: in a sandbox without dconf, GSettings replaces its file, and waits for
    /// the disk, at each call.
    private func set(_ key: String, _ value: OpaquePointer?) {
        g_variant_ref_sink(value)
        defer { g_variant_unref(value) }
        if let current = g_settings_get_user_value(cast(), key) {
            defer { g_variant_unref(current) }
            if g_variant_equal(UnsafeRawPointer(current), UnsafeRawPointer(value)) != 0 { return }
        }
        g_settings_set_value(cast(), key, value)
    }

    /// Binds a setting to a property for the lifetime of the object.
    /// - Parameter bothWays: Whether changes of the property update the setting.
    public func bind(_ key: String, to object: Object, _ property: String, bothWays: Bool = false) {
        let flags = bothWays ? shim_settings_bind_default : shim_settings_bind_get
        g_settings_bind(cast(), key, object.pointer, property, flags)
    }

    @discardableResult
    public func onChange(of key: String, _ handler: @escaping @MainActor () -> Void) -> SignalConnection {
        connect("changed::\(key)") { _ in handler() }
    }
}
