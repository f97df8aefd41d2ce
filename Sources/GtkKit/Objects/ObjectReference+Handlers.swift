import CGtk

extension ObjectReference {
    /// Whether a handler is connected to a signal, and not blocked.
    public func hasHandler(of signal: String) -> Bool {
        withRawPointer { pointer in
            let id = g_signal_lookup(signal, shim_instance_type(pointer))
            precondition(id != 0, "no signal \(signal)")
            return g_signal_has_handler_pending(pointer, id, 0, 0) != 0
        }
    }
}
