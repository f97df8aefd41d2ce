public import Foundation
import JSONReading

/// A homeserver that responded to `/versions`.
public struct Homeserver: Sendable, Equatable {
    public var url: URL
    /// Supported versions of the specification, such as `v1.11`.
    public var versions: [String]
    /// Enabled entries of `unstable_features`.
    public var features: Set<String>

    public init(url: URL, versions: [String], features: Set<String>) {
        self.url = url
        self.versions = versions
        self.features = features
    }

    /// Whether the server supports simplified sliding sync (MSC4186) at its unstable path.
    public var hasSlidingSync: Bool { features.contains("org.matrix.simplified_msc3575") }
}

/// Finds the homeserver for the server name, URL or user ID that a user enters (specification, server discovery).
public struct Discovery: Sendable {
    public enum Problem: Error, Equatable, Sendable {
        /// The text is neither a server name nor a URL, or is an `http:` URL of another computer, whose traffic would
        /// be unencrypted.
        case notAnAddress
        /// The server does not respond.
        case unreachable(reason: String)
        /// The server's certificate is not trusted.
        case untrusted(CertificateProblem)
        /// The `.well-known` file is invalid, or the URL does not lead to a homeserver.
        case noHomeserver(reason: String)
    }

    private let transport: any MatrixTransport

    public init(transport: any MatrixTransport) {
        self.transport = HastyTransport(transport: transport)
    }

    /// Finds the homeserver that a text names.
    /// - Parameter text: A server name, `example.org`; a URL; or a user ID, `@name:example.org`.
    /// - Throws: ``Problem``, or `CancellationError`.
    public func homeserver(for text: String) async throws -> Homeserver {
        let address = try Self.address(text)
        guard !address.isURL else {
            // The URL of a homeserver, or of a site with a `.well-known` file.
            do {
                return try await check(address.url)
            } catch let problem as Problem {
                // The user wrote this address, so its own problem is the one to show.
                let named: URL?
                do { named = try await wellKnown(address.url) } catch is Problem { throw problem }
                guard let named else { throw problem }
                return try await check(named)
            }
        }
        if address.isUser, let named = try await wellKnown(withoutPortOf: address.url) { return try await check(named) }
        return try await check(try await wellKnown(address.url) ?? address.url)
    }

    /// Returns the base URL from the `.well-known` file of a user's server, which is at the host name without the port
    /// (specification, "Server Discovery"). If there is no valid one, the port in the user ID may lead to the server.
    private func wellKnown(withoutPortOf url: URL) async throws -> URL? {
        guard url.port != nil, var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            return nil
        }
        components.port = nil
        guard let site = components.url else { return nil }
        do { return try await wellKnown(site) } catch is Problem { return nil }
    }

    /// Returns the base URL from the site's `.well-known` file, or `nil` if it has none.
    private func wellKnown(_ site: URL) async throws -> URL? {
        var request = MatrixClient(server: site, transport: transport).request(.get, ["client"])
        request.url = site.appending(path: ".well-known/matrix/client")
        request.followsRedirects = true
        request.limit = 1 << 20
        let response: MatrixResponse
        do {
            response = try await transport.send(request)
        } catch is CancellationError {
            throw CancellationError()
        } catch TransportError.untrusted(let problem) {
            throw Problem.untrusted(problem)
        } catch {
            throw Problem.unreachable(reason: "\(error)")
        }
        if response.status == 404 { return nil }
        // A file that cannot be parsed names no homeserver, like one without the field.
        guard response.status == 200, let json = try? JSONValue(parsing: response.body),
            let base = json["m.homeserver"]?["base_url"]?.string, let found = try? Self.address(base), found.isURL
        else { throw Problem.noHomeserver(reason: "its .well-known file is invalid, status \(response.status)") }
        return found.url
    }

    private func check(_ url: URL) async throws -> Homeserver {
        do {
            return try await MatrixClient(server: url, transport: transport).homeserver()
        } catch let error as MatrixError {
            if case .unreachable(let reason, _) = error { throw Problem.unreachable(reason: reason) }
            if case .untrusted(let problem) = error { throw Problem.untrusted(problem) }
            if case .busy = error { throw Problem.unreachable(reason: "busy") }
            throw Problem.noHomeserver(reason: "\(error)")
        }
    }

    private static func address(_ text: String) throws -> (url: URL, isURL: Bool, isUser: Bool) {
        var text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let isUser = text.hasPrefix("@")
        if isUser, let colon = text.firstIndex(of: ":") {
            text = String(text[text.index(after: colon)...])
        }
        let isURL = text.contains("://")
        guard let components = URLComponents(string: isURL ? text : "https://" + text), let host = components.host,
            !host.isEmpty,
            components.user == nil, components.query == nil, components.fragment == nil,
            isURL || components.path.isEmpty,
            components.scheme == "https" || (components.scheme == "http" && isThisComputer(host)),
            let url = components.url
        else { throw Problem.notAnAddress }
        return (url, isURL, isUser)
    }

    static func isThisComputer(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host == "[::1]"
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}

/// Shortens the connection timeout for a server that the user has just entered: a server that speaks plain HTTP may
/// leave a TLS handshake unanswered.
private struct HastyTransport: MatrixTransport {
    let transport: any MatrixTransport

    func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        var request = request
        request.connectTimeout = .seconds(4)
        return try await transport.send(request)
    }
}

extension MatrixClient {
    /// Requests the server's versions and features, for this account if it is signed in.
    /// - Throws: ``MatrixError``: `malformed` if the server supports no version that this client does.
    public func homeserver() async throws -> Homeserver {
        let response = try await call(.get, ["client", "versions"])
        let versions = (response["versions"]?.array ?? []).compactMap(\.string)
        guard versions.contains(where: { $0.hasPrefix("v1.") }) else {
            throw MatrixError.malformed(reason: "no version of the specification that is known")
        }
        let features = (response["unstable_features"]?.object ?? [:]).filter { $0.value.bool == true }
        return Homeserver(url: server, versions: versions, features: Set(features.keys))
    }
}
