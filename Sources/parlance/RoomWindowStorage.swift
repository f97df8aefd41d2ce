import ChatStore
import ChatViewModels
import GtkKit

/// Which rooms have windows of their own; persisted on each change so that it survives a crash.
final class RoomWindowStorage {
    private(set) var windows: StoredRoomWindows
    private let settings: Settings?
    private let store: ChatStore
    private let writes = DeliveryQueue()

    /// - Parameter settings: `nil` if the schema is not installed; the windows are then persisted in the store.
    init(settings: Settings?, store: ChatStore) async {
        self.settings = settings
        self.store = store
        if let settings {
            windows = StoredRoomWindows(settings.strings(Self.key))
        } else {
            // Without them, rooms are in the main window alone.
            let stored = (try? await store.setting(Self.storedKey)) ?? nil
            windows = StoredRoomWindows((stored ?? "").split(separator: "\n").map(String.init))
        }
    }

    func put(_ windows: StoredRoomWindows) {
        self.windows = windows
        let texts = windows.texts
        if let settings { return settings.set(Self.key, texts) }
        writes.add { [store] in
            // Errors are ignored: at worst, the next start opens other windows. JSON has no line breaks.
            try? await store.setSetting(texts.joined(separator: "\n"), for: Self.storedKey)
        }
    }

    /// Waits for pending writes.
    func flush() async { await writes.finish() }

    private nonisolated static let key = "room-windows"
    private nonisolated static let storedKey = "window.room-windows"
}
