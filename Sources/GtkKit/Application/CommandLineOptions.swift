import CGtk

/// An option of the command line, `--name` or `--name=ARGUMENT`.
public struct CommandLineOption {
    let name: String
    let description: String
    let argument: String?

    /// - Parameters:
    ///   - description: what the option does, as `--help` shows it.
    ///   - argument: the placeholder of the argument in `--help`, or `nil` if the option has none.
    public init(_ name: String, description: String, argument: String? = nil) {
        self.name = name
        self.description = description
        self.argument = argument
    }
}

/// The options that were given on the command line.
@MainActor
public struct CommandLineOptions {
    private let dictionary: UnsafeMutablePointer<GVariantDict>

    init(_ dictionary: UnsafeMutablePointer<GVariantDict>) {
        self.dictionary = dictionary
    }

    public func contains(_ name: String) -> Bool { g_variant_dict_contains(dictionary, name) != 0 }

    /// Returns an option's argument, or `nil` if the option is missing or has none.
    public func text(_ name: String) -> String? {
        guard let value = g_variant_dict_lookup_value(dictionary, name, nil) else { return nil }
        defer { g_variant_unref(value) }
        guard g_variant_classify(value) == G_VARIANT_CLASS_STRING else { return nil }
        return g_variant_get_string(value, nil).map { String(cString: $0) }
    }
}
