import CGtk

/// The arguments of a signal, without the emitting instance. Valid only during the handler.
public struct SignalArguments {
    let values: UnsafePointer<GValue>
    public let count: Int

    /// The object that emitted the signal.
    public var emitter: UnsafeMutableRawPointer? { g_value_get_object(values) }

    public func bool(_ index: Int) -> Bool { g_value_get_boolean(value(index)) != 0 }
    public func int(_ index: Int) -> Int { Int(g_value_get_int(value(index))) }
    public func uint(_ index: Int) -> UInt32 { g_value_get_uint(value(index)) }
    public func double(_ index: Int) -> Double { g_value_get_double(value(index)) }
    public func flags(_ index: Int) -> UInt32 { g_value_get_flags(value(index)) }
    public func enumeration(_ index: Int) -> Int32 { g_value_get_enum(value(index)) }
    public func string(_ index: Int) -> String { g_value_get_string(value(index)).map { String(cString: $0) } ?? "" }
    /// Returns a string argument with an explicit byte length, as in `GtkTextBuffer::insert-text`.
    public func string(_ index: Int, byteCount: Int) -> String {
        guard let bytes = g_value_get_string(value(index)) else { return "" }
        return bytes.withMemoryRebound(to: UInt8.self, capacity: byteCount) {
            String(decoding: UnsafeBufferPointer(start: $0, count: byteCount), as: UTF8.self)
        }
    }
    public func boxed(_ index: Int) -> UnsafeMutableRawPointer? { g_value_get_boxed(value(index)) }
    public func object(_ index: Int) -> UnsafeMutableRawPointer? { g_value_get_object(value(index)) }
    /// An argument of a custom fundamental type, such as GdkEvent.
    public func pointer(_ index: Int) -> UnsafeMutableRawPointer? { g_value_peek_pointer(value(index)) }
    public func variant(_ index: Int) -> OpaquePointer? { g_value_get_variant(value(index)) }

    private func value(_ index: Int) -> UnsafePointer<GValue> {
        precondition(index < count, "signal argument out of range")
        return values + index + 1
    }
}

/// A handler connected to an object. The object owns the connection: dropping this value does not disconnect it.
public struct SignalConnection {
    let instance: UnsafeMutableRawPointer
    let id: gulong

    /// Disconnects the handler and frees its closure. Idempotent, and safe inside the handler itself. The object must
    /// still be alive.
    public func disconnect() {
        if g_signal_handler_is_connected(instance, id) != 0 { g_signal_handler_disconnect(instance, id) }
    }

    /// Runs `body` with the handler blocked.
    public func blocked<R>(_ body: () throws -> R) rethrows -> R {
        g_signal_handler_block(instance, id)
        defer { g_signal_handler_unblock(instance, id) }
        return try body()
    }
}

typealias SignalHandler = @MainActor (SignalArguments, UnsafeMutablePointer<GValue>?) -> Void

extension Object {
    /// Calls `handler` whenever the object emits `signal` (`name` or `name::detail`).
    @discardableResult
    public final func connect(
        _ signal: String, after: Bool = false, _ handler: @escaping @MainActor (SignalArguments) -> Void
    ) -> SignalConnection {
        connectClosure(signal, after: after) { arguments, _ in handler(arguments) }
    }

    /// Connects to a signal whose handlers return whether they handled the event.
    @discardableResult
    public final func intercept(
        _ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Bool
    ) -> SignalConnection {
        connectClosure(signal, after: false) { arguments, result in
            let handled = handler(arguments)
            if let result { g_value_set_boolean(result, handled ? 1 : 0) }
        }
    }

    /// Connects to a signal whose handlers return an integer.
    @discardableResult
    public final func connectReturningInt(
        _ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Int32
    ) -> SignalConnection {
        connectClosure(signal, after: false) { arguments, result in
            let returnValue = handler(arguments)
            if let result { g_value_set_int(result, returnValue) }
        }
    }

    /// Connects to a signal whose handlers return an optional object.
    @discardableResult
    public final func provide(
        _ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> Object?
    ) -> SignalConnection {
        connectClosure(signal, after: false) { arguments, result in
            let returnValue = handler(arguments)
            if let result { g_value_set_object(result, returnValue?.pointer) }
        }
    }

    /// Connects to a signal whose handlers return flags.
    @discardableResult
    public final func connectReturningFlags(
        _ signal: String, _ handler: @escaping @MainActor (SignalArguments) -> UInt32
    ) -> SignalConnection {
        connectClosure(signal, after: false) { arguments, result in
            let returnValue = handler(arguments)
            if let result { g_value_set_flags(result, returnValue) }
        }
    }

    private func connectClosure(_ signal: String, after: Bool, _ handler: @escaping SignalHandler) -> SignalConnection {
        let box = Unmanaged.passRetained(ClosureBox(handler))
        let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), box.toOpaque())
        g_closure_add_finalize_notifier(closure, box.toOpaque()) { data, _ in
            if let data { Unmanaged<ClosureBox<SignalHandler>>.fromOpaque(data).release() }
        }
        g_closure_set_marshal(closure) { closure, result, count, values, _, _ in
            nonisolated(unsafe) let (closure, result, values) = (closure, result, values)
            MainActor.assumeIsolated {
                guard let closure, let values, let data = shim_closure_data(closure) else { return }
                let box = Unmanaged<ClosureBox<SignalHandler>>.fromOpaque(data).takeUnretainedValue()
                box.closure(SignalArguments(values: values, count: Int(count) - 1), result)
            }
        }
        let id = g_signal_connect_closure(pointer, signal, closure, after ? 1 : 0)
        precondition(id != 0, "no signal \(signal)")
        return SignalConnection(instance: pointer, id: id)
    }
}
