import CGtk

/// A GListModel whose items are stable string keys: rows look up what they show by key.
public final class KeyListModel: Object {
    public private(set) var keys: [String] = []

    public convenience init(keys: [String] = []) {
        self.init(owning: UnsafeMutableRawPointer(gtk_string_list_new(nil)))
        apply(keys)
    }

    /// Makes the list equal to `newKeys` with the minimal insertions and removals, so that unchanged rows keep their
    /// widgets, focus and selection. Keys must be unique.
    public func apply(_ newKeys: [String]) {
        guard newKeys != keys else { return }
        // A difference would be one change for each key.
        if keys.isEmpty || newKeys.isEmpty { return replaceAll(with: newKeys) }
        for change in newKeys.difference(from: keys) {
            switch change {
            case .remove(let offset, _, _): gtk_string_list_remove(cast(), guint(offset))
            case .insert(let offset, let key, _): insert(key, at: offset)
            }
        }
        keys = newKeys
    }

    /// Rebinds the row of the key by removing and reinserting it.
    public func refresh(_ key: String) {
        guard let index = keys.firstIndex(of: key) else { return }
        gtk_string_list_remove(cast(), guint(index))
        insert(key, at: index)
    }

    private func replaceAll(with newKeys: [String]) {
        let count = guint(keys.count)
        let texts: [UnsafeMutablePointer<CChar>?] = newKeys.map { g_strndup($0, gsize($0.utf8.count)) }
        defer { texts.forEach { g_free($0) } }
        var additions: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0) } + [nil]
        gtk_string_list_splice(cast(), 0, count, &additions)
        keys = newKeys
    }

    private func insert(_ key: String, at offset: Int) {
        key.withCString { text in
            var additions: [UnsafePointer<CChar>?] = [text, nil]
            gtk_string_list_splice(cast(), guint(offset), 0, &additions)
        }
    }
}
