import Foundation
import Testing

@testable import MatrixBackend

@Suite(.timeLimit(.minutes(10))) struct DiscoveryTests {
    private let versions =
        #"{"versions":["v1.11"],"unstable_features":{"org.matrix.simplified_msc3575":true,"x":false}}"#

    /// - Parameter site: the response for each URL; all others are unreachable.
    private func find(_ text: String, _ site: [String: (Int, String)]) async throws -> Homeserver {
        let transport = FakeTransport { request in
            guard let (status, body) = site[request.url.absoluteString] else {
                throw TransportError.unreachable(reason: "nothing there")
            }
            return MatrixResponse(status: status, body: Data(body.utf8))
        }
        return try await Discovery(transport: transport).homeserver(for: text)
    }

    private let wellKnown = "https://example.org/.well-known/matrix/client"
    private let hosted = "https://matrix.example.org/_matrix/client/versions"

    @Test(arguments: ["example.org", " example.org\n", "@ann:example.org"])
    func serverNameResolvesToItsHomeserver(_ text: String) async throws {
        let found = try await find(
            text,
            [
                wellKnown: (200, #"{"m.homeserver":{"base_url":"https://matrix.example.org/"}}"#),
                hosted: (200, versions),
            ])
        #expect(found.url.absoluteString == "https://matrix.example.org")
        #expect(found.versions == ["v1.11"])
        #expect(found.hasSlidingSync && found.features == ["org.matrix.simplified_msc3575"])
    }

    @Test func nameWithoutWellKnownIsItsOwnHomeserver() async throws {
        let own = "https://example.org:8448/_matrix/client/versions"
        let found = try await find(
            "example.org:8448",
            ["https://example.org:8448/.well-known/matrix/client": (404, "<html>"), own: (200, versions)])
        #expect(found.url.absoluteString == "https://example.org:8448")
    }

    @Test("The file of a user's server is at its host name without the port; without it, the port counts")
    func userIDWithPort() async throws {
        let file = #"{"m.homeserver":{"base_url":"https://matrix.example.org"}}"#
        let own = "https://example.org:8448/_matrix/client/versions"
        let besides = ["https://example.org:8448/.well-known/matrix/client": (404, "<html>"), own: (200, versions)]
        let named = try await find(
            "@ann:example.org:8448",
            [wellKnown: (200, file), hosted: (200, versions)].merging(besides) { first, _ in first })
        #expect(named.url.absoluteString == "https://matrix.example.org")
        // Nothing, or something else, is at the usual port.
        for site in [besides, besides.merging([wellKnown: (200, "<html>")]) { first, _ in first }] {
            let found = try await find("@ann:example.org:8448", site)
            #expect(found.url.absoluteString == "https://example.org:8448")
        }
    }

    @Test func urlMayBeAHomeserverOrASite() async throws {
        let direct = try await find("https://matrix.example.org/", [hosted: (200, versions)])
        #expect(direct.url.absoluteString == "https://matrix.example.org")
        let site = try await find(
            "https://example.org",
            [
                "https://example.org/_matrix/client/versions": (404, "<html>"),
                wellKnown: (200, #"{"m.homeserver":{"base_url":"https://matrix.example.org"}}"#),
                hosted: (200, versions),
            ])
        #expect(site.url.absoluteString == "https://matrix.example.org")
    }

    @Test(arguments: [
        "", "   ", "http://example.org", "ftp://example.org", "https://", "example.org/path", "https://a:b@example.org",
        "exa mple", "http://127.0.0.1.example.org", "https://example.org?x=1",
    ])
    func invalidAddressIsNotRequested(_ text: String) async {
        await #expect(throws: Discovery.Problem.notAnAddress) { _ = try await find(text, [:]) }
    }

    @Test(arguments: [
        "<html>", "{}", #"{"m.homeserver":[]}"#, #"{"m.homeserver":{"base_url":7}}"#,
        #"{"m.homeserver":{"base_url":"http://matrix.example.org"}}"#, #"{"m.homeserver":{"base_url":"javascript:x"}}"#,
    ])
    func invalidWellKnownIsNotFollowed(_ body: String) async {
        await #expect(throws: Discovery.Problem.self) {
            _ = try await find("example.org", [wellKnown: (200, body), hosted: (200, versions)])
        }
    }

    @Test(arguments: ["{}", #"{"versions":[]}"#, #"{"versions":["r0.6.1"]}"#, #"{"versions":7}"#, "<html>"])
    func serverWithoutKnownVersionIsNoHomeserver(_ body: String) async throws {
        do {
            _ = try await find("https://matrix.example.org", [hosted: (200, body)])
            Issue.record("no error")
        } catch Discovery.Problem.noHomeserver {}
    }

    @Test func localhostNeedsNoTLS() async throws {
        for host in ["http://localhost:8008", "http://127.0.0.1:8008", "http://[::1]:8008"] {
            let found = try await find(host, [host + "/_matrix/client/versions": (200, versions)])
            #expect(found.url.absoluteString == host)
        }
    }
}
