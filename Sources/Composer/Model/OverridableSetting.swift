/// A setting with a temporary override, such as input hints or spell checking (HKW-24).
///
/// Ignores further overrides until ``restore()``; restoring without an override does nothing.
public struct OverridableSetting<Value: Sendable>: Sendable {
    /// The effective value.
    public private(set) var value: Value
    private var original: Value?

    public init(_ value: Value) {
        self.value = value
    }

    public var isOverridden: Bool { original != nil }

    public mutating func override(with other: Value) {
        guard original == nil else { return }
        original = value
        value = other
    }

    public mutating func restore() {
        guard let original else { return }
        value = original
        self.original = nil
    }
}
