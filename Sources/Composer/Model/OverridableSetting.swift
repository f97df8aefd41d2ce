/// A setting that can be overridden for a while and then is what it was: input hints, spell checking (HKW-24).
///
/// Only the first override counts until it is taken back; taking back without one does nothing.
public struct OverridableSetting<Value: Sendable>: Sendable {
    /// What is in force.
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
