import ChatCore
import ChatStore
import Foundation
import JSONReading

/// Link previews from the homeserver, so that the linked site does not learn the user's IP address.
struct LinkPreviews: Sendable {
    /// Prefix of the settings that cache previews.
    private static let setting = "matrix.preview."
    /// Age in seconds after which a preview is requested again.
    private static let maxAge: Double = 7 * 24 * 60 * 60
    /// The number of stored previews above which old ones are removed.
    static let maxCount = 1000

    private struct StoredPreview: Codable {
        var toldAt: Double
        var preview: LinkPreview?
    }

    let client: MatrixClient
    let store: ChatStore
    let encryption: RoomEncryption

    /// Returns the preview of a link in a room's messages; `nil` if there is none.
    func preview(of address: String, in room: RoomID) async throws -> LinkPreview? {
        // The URL is part of the message: never disclose it from an encrypted room.
        guard try await !encryption.isOn(in: room) else { return nil }
        let setting = Self.setting + address
        let now = Date().timeIntervalSince1970
        if let text = try await store.setting(setting),
            // A preview stored by another version is requested again if it cannot be decoded.
            let stored = try? JSONDecoder().decode(StoredPreview.self, from: Data(text.utf8)),
            (0..<Self.maxAge).contains(now - stored.toldAt)
        {
            return stored.preview
        }
        // What is stored of the room's encryption may be outdated.
        guard try await encryption.isCertainlyOff(in: room) else { return nil }
        let preview: LinkPreview?
        do {
            preview = Self.preview(from: try await client.linkPreview(of: address))
        } catch MatrixError.rejected(404, "M_UNRECOGNIZED", _) {
            // The server offers no previews.
            preview = nil
        } catch let error as MatrixError where error.isAboutAccount {
            // That says nothing of the page.
            throw ChatError.translated(error)
        } catch MatrixError.rejected {
            // It has none of this page.
            preview = nil
        } catch {
            throw ChatError.translated(error)
        }
        let stored = try JSONEncoder().encode(StoredPreview(toldAt: now, preview: preview))
        try await store.cacheSetting(
            String(decoding: stored, as: UTF8.self), for: setting, among: Self.setting, limit: Self.maxCount
        ) { Self.date(of: $0, at: now) }
        return preview
    }

    /// Returns when a preview was stored; `nil` if it is unreadable, or of a clock that was ahead: it is never used.
    private static func date(of text: String, at now: Double) -> Double? {
        guard let stored = try? JSONDecoder().decode(StoredPreview.self, from: Data(text.utf8)), stored.toldAt <= now
        else { return nil }
        return stored.toldAt
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
