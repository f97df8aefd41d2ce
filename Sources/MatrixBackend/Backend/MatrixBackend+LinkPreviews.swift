public import ChatCore
import ChatStore
import Foundation
import JSONReading

/// What is behind links, told by the homeserver: the linked site learns of the server alone, not of the reader.
extension MatrixBackend {
    /// Under which the store keeps what was told.
    private static let previewSetting = "matrix.preview."
    /// After so many seconds the server is asked anew.
    private static let previewAge: Double = 7 * 24 * 60 * 60

    private struct KeptPreview: Codable {
        var toldAt: Double
        var preview: LinkPreview?
    }

    public nonisolated func linkPreview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        // The address is a part of what was said: no server may learn it from an encrypted room.
        guard try await !isEncrypted(room) else { return nil }
        let setting = Self.previewSetting + address
        let now = Date().timeIntervalSince1970
        if let text = try await store.setting(setting),
            let kept = try? JSONDecoder().decode(KeptPreview.self, from: Data(text.utf8)),
            (0..<Self.previewAge).contains(now - kept.toldAt)
        {
            return kept.preview
        }
        let preview: LinkPreview?
        do {
            preview = Self.preview(from: try await client.linkPreview(of: address))
        } catch MatrixError.refused {
            // Servers may offer none, or none of this page.
            preview = nil
        } catch {
            throw Self.chatError(error)
        }
        let kept = try JSONEncoder().encode(KeptPreview(toldAt: now, preview: preview))
        try await store.setSetting(String(decoding: kept, as: UTF8.self), for: setting)
        return preview
    }

    public nonisolated func isEncrypted(_ room: RoomID) async throws -> Bool {
        if let known = try await store.setting(MatrixOutboxBackend.encryptionSetting, of: room) { return known != "0" }
        do { return try await client.state("m.room.encryption", of: room) != nil } catch { throw Self.chatError(error) }
    }

    /// Open Graph's names and the specification's own.
    static func preview(from answer: JSONValue) -> LinkPreview? {
        var picture: MediaReference?
        if let uri = answer["og:image"]?.string, uri.hasPrefix("mxc://"), uri.utf8.count <= 255 {
            func number(_ key: String) -> Int? { answer[key]?.integer.map { Int(clamping: $0) } }
            picture = MediaReference(
                uri: uri, name: "preview", type: answer["og:image:type"]?.string ?? "image/*",
                bytes: number("matrix:image:size"), width: number("og:image:width"), height: number("og:image:height"))
        }
        return LinkPreview(
            title: answer["og:title"]?.string, summary: answer["og:description"]?.string,
            site: answer["og:site_name"]?.string, picture: picture)
    }
}
