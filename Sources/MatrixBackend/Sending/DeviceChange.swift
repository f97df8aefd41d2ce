import ChatStore
import Foundation

/// When another device of the account took the place of a former one in this store. Servers report the transactions of
/// a device to that device alone, so what the former one sent last is recognized by its content.
struct DeviceChange: Sendable {
    private static let deviceSetting = "matrix.device"
    private static let timeSetting = "matrix.deviceChange"

    let store: ChatStore

    /// Records the device that sends from now on.
    func note(_ device: String, at now: Date) async throws {
        guard !device.isEmpty else { return }
        let former = try await store.setting(Self.deviceSetting)
        guard former != device else { return }
        // The time first: without the device, the next start records both once more.
        if former != nil {
            try await store.setSetting(String(Int64(now.timeIntervalSince1970 * 1000)), for: Self.timeSetting)
        }
        try await store.setSetting(device, for: Self.deviceSetting)
    }

    /// Whether a request that was queued at this time may have been attempted by a former device.
    func isAfter(_ queuedAt: Date) async throws -> Bool {
        guard let time = try await store.setting(Self.timeSetting).flatMap({ Int64($0) }) else { return false }
        return Int64(queuedAt.timeIntervalSince1970 * 1000) <= time
    }
}
