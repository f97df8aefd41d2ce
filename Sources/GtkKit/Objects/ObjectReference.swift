public import CGtk

/// Something that stands for one GObject.
///
/// C functions without a wrapper receive the pointer inside a closure, during which `self` is kept alive. The pointer
/// must not leave the closure: nothing keeps the object alive afterwards.
public protocol ObjectReference {
    func withRawPointer<R>(_ body: (UnsafeMutableRawPointer) throws -> R) rethrows -> R
}

extension ObjectReference {
    /// Runs `body` with the pointer typed as the C function in it expects.
    @inlinable public func withPointer<T, R>(_ body: (UnsafeMutablePointer<T>) throws -> R) rethrows -> R {
        try withRawPointer { try body($0.assumingMemoryBound(to: T.self)) }
    }

    /// Runs `body` with the pointer for opaque C types. Which types are opaque differs between GTK versions;
    /// overloading lets the same source compile with all of them.
    @inlinable public func withPointer<R>(_ body: (OpaquePointer) throws -> R) rethrows -> R {
        try withRawPointer { try body(OpaquePointer($0)) }
    }

    /// Returns whether the object is an instance of `type` or of a subclass.
    public func isInstance(of type: GType) -> Bool { withRawPointer { shim_is_a($0, type) != 0 } }
}

/// Identifies a GObject without keeping it alive; another object may reuse the identity of a freed one.
public struct ObjectIdentity: Hashable {
    let pointer: UnsafeMutableRawPointer
}
