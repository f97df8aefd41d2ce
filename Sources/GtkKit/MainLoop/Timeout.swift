import CGtk

/// A GLib timeout owned by this object: dropping or canceling it removes the source.
@MainActor public final class Timeout {
    private var source: guint = 0

    /// Calls `action` on the main loop every `interval`, which is rounded down to milliseconds.
    public init(every interval: Duration, _ action: @escaping @MainActor () -> Void) {
        start(milliseconds: interval.milliseconds, repeats: true, action)
    }

    /// Calls `action` once after `interval`.
    public init(after interval: Duration, _ action: @escaping @MainActor () -> Void) {
        start(milliseconds: interval.milliseconds, repeats: false, action)
    }

    /// Calls `action` once when the main loop is idle.
    public init(whenIdle action: @escaping @MainActor () -> Void) {
        start(milliseconds: nil, repeats: false, action)
    }

    /// Calls `action` once the current callback of the main loop has returned, before any other event.
    public init(beforeNextEvent action: @escaping @MainActor () -> Void) {
        start(milliseconds: nil, priority: G_PRIORITY_HIGH, repeats: false, action)
    }

    // Needs the class's explicit @MainActor in optimized builds, see Object.
    isolated deinit {
        cancel()
    }

    public var isPending: Bool { source != 0 }

    public func cancel() {
        guard source != 0 else { return }
        let ended = source
        source = 0
        g_source_remove(ended)
    }

    private func start(
        milliseconds: guint?, priority: gint = G_PRIORITY_DEFAULT_IDLE, repeats: Bool,
        _ action: @escaping @MainActor () -> Void
    ) {
        let tick: @MainActor () -> Bool = { [weak self] in
            // Returning `false` removes a one-shot source: it must not be removed again.
            if !repeats { self?.source = 0 }
            action()
            return repeats
        }
        let box = Unmanaged.passRetained(ClosureBox(tick)).toOpaque()
        let call: GSourceFunc = { data in
            nonisolated(unsafe) let data = data
            return MainActor.assumeIsolated {
                guard let data else { return gboolean(0) }
                return Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data).takeUnretainedValue().closure()
                    ? 1 : 0
            }
        }
        let release: GDestroyNotify = { data in
            if let data { Unmanaged<ClosureBox<@MainActor () -> Bool>>.fromOpaque(data).release() }
        }
        if let milliseconds {
            source = g_timeout_add_full(G_PRIORITY_DEFAULT, milliseconds, call, box, release)
        } else {
            source = g_idle_add_full(priority, call, box, release)
        }
    }
}

extension Duration {
    /// Whole milliseconds, never negative.
    var milliseconds: guint {
        let (seconds, attoseconds) = components
        return guint(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
