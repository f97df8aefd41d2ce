public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Link previews come from the homeserver, so the linked site does not learn the user's address.
extension MatrixBackend {
    /// Prefix of the settings that cache previews.
    private static let previewSetting = "matrix.preview."
    /// Age in seconds after which a preview is requested again.
    private static let previewAge: Double = 7 * 24 * 60 * 60

    private struct StoredPreview: Codable {
        var toldAt: Double
        var preview: LinkPreview?
    }

    public nonisolated func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        // The URL is part of the message: never disclose it from an encrypted room.
        guard try await !isEncrypted(room) else { return nil }
        let setting = Self.previewSetting + address
        let now = Date().timeIntervalSince1970
        if let text = try await store.setting(setting),
            let stored = try? JSONDecoder().decode(StoredPreview.self, from: Data(text.utf8)),
            (0..<Self.previewAge).contains(now - stored.toldAt)
        {
            return stored.preview
        }
        let preview: LinkPreview?
        do {
            preview = Self.preview(from: try await client.linkPreview(of: address))
        } catch MatrixError.rejected {
            // The server offers no previews, or none of this page.
            preview = nil
        } catch {
            throw Self.chatError(error)
        }
        let stored = try JSONEncoder().encode(StoredPreview(toldAt: now, preview: preview))
        try await store.setSetting(String(decoding: stored, as: UTF8.self), for: setting)
        return preview
    }

    public nonisolated func isEncrypted(_ room: RoomID) async throws -> Bool {
        if let value = try await store.setting(MatrixOutboxBackend.encryptionSetting, of: room) { return value != "0" }
        do { return try await client.state("m.room.encryption", of: room) != nil } catch { throw Self.chatError(error) }
    }

    /// Maps Open Graph keys and the specification's `matrix:image:size`.
    static func preview(from response: JSONValue) -> LinkPreview? {
        var image: MediaReference?
        if let uri = response["og:image"]?.string, uri.hasPrefix("mxc://"), uri.utf8.count <= 255 {
            func number(_ key: String) -> Int? { response[key]?.integer.map { Int(clamping: $0) } }
            image = MediaReference(
                uri: uri, name: "preview", type: response["og:image:type"]?.string ?? "image/*",
                bytes: number("matrix:image:size"), width: number("og:image:width"), height: number("og:image:height"))
        }
        return LinkPreview(
            title: response["og:title"]?.string, summary: response["og:description"]?.string,
            site: response["og:site_name"]?.string, picture: image)
    }
}
