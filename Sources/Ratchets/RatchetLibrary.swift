import CRatchets

/// The encryption library that the program was built with.
public enum RatchetLibrary {
    /// For example "vodozemac 0.10.0"; `nil` in a program that was built without it (ENCRYPTION=0), where every other
    /// call of this module throws ``RatchetError/absent``.
    public static let version: String? = {
        let version = String(cString: ratchet_library_version())
        return version.isEmpty ? nil : version
    }()
}
