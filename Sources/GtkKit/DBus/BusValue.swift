import CGtk

/// Values of D-Bus messages. Those created here are floating: the call or value that receives them takes ownership.
nonisolated enum BusValue {
    static func text(_ text: String) -> OpaquePointer? { g_variant_new_string(text) }
    static func bool(_ value: Bool) -> OpaquePointer? { g_variant_new_boolean(value ? 1 : 0) }
    static func uint32(_ value: UInt32) -> OpaquePointer? { g_variant_new_uint32(value) }
    static func int32(_ value: Int32) -> OpaquePointer? { g_variant_new_int32(value) }
    static func byte(_ value: UInt8) -> OpaquePointer? { g_variant_new_byte(value) }
    static func tuple(_ values: [OpaquePointer?]) -> OpaquePointer? { g_variant_new_tuple(values, gsize(values.count)) }

    static func texts(_ texts: [String]) -> OpaquePointer? { array(of: "s", texts.map { text($0) }) }

    /// Creates a dictionary from names to variants, `a{sv}`.
    static func options(_ options: [(name: String, value: OpaquePointer?)]) -> OpaquePointer? {
        array(of: "{sv}", options.map { g_variant_new_dict_entry(text($0.name), g_variant_new_variant($0.value)) })
    }

    static func array(of type: String, _ values: [OpaquePointer?]) -> OpaquePointer? {
        let type = g_variant_type_new(type)
        defer { g_variant_type_free(type) }
        return g_variant_new_array(type, values, gsize(values.count))
    }

    /// Creates a byte array, `ay`.
    static func bytes(_ bytes: [UInt8]) -> OpaquePointer? {
        let type = g_variant_type_new("ay")
        defer { g_variant_type_free(type) }
        return bytes.withUnsafeBytes {
            let copy = g_bytes_new($0.baseAddress, gsize($0.count))
            defer { g_bytes_unref(copy) }
            return g_variant_new_from_bytes(type, copy, 1)
        }
    }

    static func variant(_ value: OpaquePointer?) -> OpaquePointer? { g_variant_new_variant(value) }

    /// Frees a floating value that was not passed to a call.
    static func drop(_ value: OpaquePointer?) {
        guard let value else { return }
        g_variant_ref_sink(value)
        g_variant_unref(value)
    }

    // MARK: Reading

    /// Returns the string at an index of a tuple, or `nil` if there is none.
    static func text(_ tuple: OpaquePointer, _ index: Int) -> String? {
        read(tuple, index, G_VARIANT_CLASS_STRING) { g_variant_get_string($0, nil).map { String(cString: $0) } }
    }

    static func bool(_ tuple: OpaquePointer, _ index: Int) -> Bool? {
        read(tuple, index, G_VARIANT_CLASS_BOOLEAN) { g_variant_get_boolean($0) != 0 }
    }

    static func uint32(_ tuple: OpaquePointer, _ index: Int) -> UInt32? {
        read(tuple, index, G_VARIANT_CLASS_UINT32) { g_variant_get_uint32($0) }
    }

    /// Returns the strings of an array at an index of a tuple, or `nil` if there is none.
    static func texts(_ tuple: OpaquePointer, _ index: Int) -> [String]? {
        read(tuple, index, G_VARIANT_CLASS_ARRAY) { array in
            (0..<Int(g_variant_n_children(array))).compactMap { text(array, $0) }
        }
    }

    /// Returns the Boolean values of a dictionary, `a{sv}`, at an index of a tuple, or `nil` if there is no dictionary.
    static func bools(_ tuple: OpaquePointer, _ index: Int) -> [String: Bool]? {
        read(tuple, index, G_VARIANT_CLASS_ARRAY) { dictionary in
            var values: [String: Bool] = [:]
            for index in 0..<g_variant_n_children(dictionary) {
                guard let entry = g_variant_get_child_value(dictionary, index) else { continue }
                defer { g_variant_unref(entry) }
                guard let name = text(entry, 0),
                    let value = read(entry, 1, G_VARIANT_CLASS_VARIANT, { g_variant_get_variant($0) })
                else { continue }
                defer { g_variant_unref(value) }
                if g_variant_classify(value) == G_VARIANT_CLASS_BOOLEAN {
                    values[name] = g_variant_get_boolean(value) != 0
                }
            }
            return values
        }
    }

    /// Returns the arrays of strings in a dictionary, `a{sv}` or one in a variant, at an index of a tuple, by their
    /// names; empty if there is no dictionary.
    static func textsByName(_ tuple: OpaquePointer, _ index: Int) -> [String: [String]] {
        guard let value = unpacked(tuple, index) else { return [:] }
        defer { g_variant_unref(value) }
        guard g_variant_classify(value) == G_VARIANT_CLASS_ARRAY else { return [:] }
        var values: [String: [String]] = [:]
        for index in 0..<g_variant_n_children(value) {
            guard let entry = g_variant_get_child_value(value, index) else { continue }
            defer { g_variant_unref(entry) }
            guard let name = text(entry, 0), let list = unpacked(entry, 1) else { continue }
            defer { g_variant_unref(list) }
            guard g_variant_classify(list) == G_VARIANT_CLASS_ARRAY else { continue }
            values[name] = (0..<Int(g_variant_n_children(list))).compactMap { text(list, $0) }
        }
        return values
    }

    /// Returns the strings among the values of an array, `av`, at an index of a tuple; empty if there is none.
    static func textsOfVariants(_ tuple: OpaquePointer, _ index: Int) -> [String] {
        read(tuple, index, G_VARIANT_CLASS_ARRAY) { array in
            (0..<Int(g_variant_n_children(array))).compactMap { place in
                guard let value = unpacked(array, place) else { return nil }
                defer { g_variant_unref(value) }
                guard g_variant_classify(value) == G_VARIANT_CLASS_STRING else { return nil }
                return g_variant_get_string(value, nil).map { String(cString: $0) }
            }
        } ?? []
    }

    /// Returns a new reference to the value at an index of a container, without the variants around it.
    private static func unpacked(_ container: OpaquePointer, _ index: Int) -> OpaquePointer? {
        guard g_variant_is_container(container) != 0, index < g_variant_n_children(container),
            var value = g_variant_get_child_value(container, gsize(index))
        else { return nil }
        while g_variant_classify(value) == G_VARIANT_CLASS_VARIANT {
            guard let inner = g_variant_get_variant(value) else { return value }
            g_variant_unref(value)
            value = inner
        }
        return value
    }

    private static func read<R>(
        _ tuple: OpaquePointer, _ index: Int, _ kind: GVariantClass, _ read: (OpaquePointer) -> R?
    ) -> R? {
        guard g_variant_is_container(tuple) != 0, index < g_variant_n_children(tuple),
            let value = g_variant_get_child_value(tuple, gsize(index))
        else { return nil }
        defer { g_variant_unref(value) }
        return g_variant_classify(value) == kind ? read(value) : nil
    }
}
