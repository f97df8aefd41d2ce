import ChatCore
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

@Suite(.timeLimit(.minutes(10))) struct ClientTests {
    struct Case: Sendable, CustomStringConvertible {
        let status: Int
        let body: String
        var headers: [String: String] = [:]
        let expected: MatrixError
        var description: String { "\(status) \(body.prefix(40)) \(headers)" }
    }

    static let cases = [
        Case(
            status: 429, body: #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":4306}"#, headers: ["retry-after": "5"],
            expected: .busy(retryAfter: .seconds(5))),
        Case(
            status: 429, body: #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":4306}"#,
            expected: .busy(retryAfter: .milliseconds(4306))),
        Case(status: 429, body: "<html>", expected: .busy(retryAfter: .seconds(5))),
        Case(
            status: 429, body: #"{"retry_after_ms":1e300}"#, expected: .busy(retryAfter: .seconds(3600))),
        Case(status: 429, body: #"{"retry_after_ms":-5}"#, expected: .busy(retryAfter: .zero)),
        Case(status: 429, body: #"{"retry_after_ms":[]}"#, expected: .busy(retryAfter: .seconds(5))),
        Case(
            status: 401, body: #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":true}"#, expected: .signedOut(isSoft: true)),
        Case(
            status: 401, body: #"{"errcode":"M_UNKNOWN_TOKEN","soft_logout":"yes"}"#,
            expected: .signedOut(isSoft: false)),
        Case(
            status: 401, body: #"{"errcode":"M_MISSING_TOKEN"}"#, expected: .unreachable(reason: "no access token")),
        // An account that is locked is not signed out.
        Case(
            status: 401, body: #"{"errcode":"M_USER_LOCKED","soft_logout":true}"#,
            expected: .rejected(status: 401, code: "M_USER_LOCKED", reason: "")),
        Case(
            status: 403, body: #"{"errcode":"M_FORBIDDEN","error":"No"}"#,
            expected: .rejected(status: 403, code: "M_FORBIDDEN", reason: "No")),
        Case(
            status: 413, body: #"{"errcode":"M_TOO_LARGE"}"#,
            expected: .rejected(status: 413, code: "M_TOO_LARGE", reason: "")),
        Case(
            status: 413, body: "<html>Request entity too large</html>",
            expected: .rejected(status: 413, code: "M_TOO_LARGE", reason: "")),
        Case(
            status: 414, body: "", expected: .rejected(status: 414, code: "M_TOO_LARGE", reason: "")),
        Case(
            status: 431, body: "{}", expected: .rejected(status: 431, code: "M_TOO_LARGE", reason: "")),
        Case(status: 502, body: "<html>Bad gateway</html>", expected: .unreachable(reason: "status 502")),
        Case(status: 520, body: "", expected: .unreachable(reason: "status 520")),
        Case(status: 504, body: "", expected: .unreachable(reason: "status 504", isTimeout: true)),
        Case(
            status: 500, body: #"{"errcode":"M_UNKNOWN"}"#, expected: .unreachable(reason: "status 500 M_UNKNOWN")),
        Case(
            status: 404, body: "<html>Not found</html>",
            expected: .unreachable(reason: "status 404, not from a homeserver")),
        Case(
            status: 301, body: "", expected: .unreachable(reason: "status 301, not from a homeserver")),
        Case(status: 200, body: "[1]", expected: .malformed(reason: "the answer is no object")),
        Case(status: 200, body: #"{"user_id":7}"#, expected: .malformed(reason: "no user ID")),
    ]

    @Test(arguments: cases) func responsesMapToErrors(_ one: Case) async throws {
        let transport = FakeTransport(one.status, one.body, headers: one.headers)
        await #expect(throws: one.expected) { _ = try await transport.client.whoAmI() }
    }

    /// A proxy that sends a request to the wrong worker gets a 404, too.
    @Test(
        "Only M_NOT_FOUND says that there is nothing",
        arguments: [
            (404, #"{"errcode":"M_UNRECOGNIZED"}"#), (403, #"{"errcode":"M_CONSENT_NOT_GIVEN"}"#),
            (404, #"{"errcode":"M_NOT_FOUND"}"#),
        ])
    func absence(status: Int, body: String) async throws {
        let client = FakeTransport(status, body).client
        let room = RoomID("!r:a")
        let isAbsent = body.contains("M_NOT_FOUND")
        func expect(_ request: () async throws -> Bool) async {
            do {
                #expect(try await request() && isAbsent)
            } catch {
                #expect(!isAbsent && error is MatrixError)
            }
        }
        await expect { try await client.state("m.room.encryption", of: room) == nil }
        await expect { try await client.membership(of: "@me:a", in: room) == nil }
        await expect { try await client.directRooms(of: MemberID("@me:a")).isEmpty }
        await expect { try await client.event(MessageID("$1"), in: room) == nil }
        await expect { try await client.isOutside(room, MemberID("@me:a")) }
    }

    @Test func malformedAnswersAreNoAbsence() async throws {
        let client = FakeTransport(200, #"{"membership":1}"#).client
        await #expect(throws: MatrixError.malformed(reason: "a member without a membership")) {
            _ = try await client.membership(of: "@me:a", in: RoomID("!r:a"))
        }
    }

    @Test(arguments: ["", "{", "<html>", "{\"a\":NaN}", "nul"]) func invalidJSONIsMalformed(_ body: String) async {
        let transport = FakeTransport(200, body)
        do {
            _ = try await transport.client.whoAmI()
            Issue.record("no error")
        } catch MatrixError.malformed {
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("A document that exceeds the limit of the parser is too large, as one that exceeds that of the transport")
    func tooLongDocument() async {
        let transport = FakeTransport { _ in
            MatrixResponse(status: 200, body: Data(repeating: UInt8(ascii: " "), count: JSONStream.maxBytes + 1))
        }
        await #expect(throws: MatrixError.tooLarge(limit: JSONStream.maxBytes)) {
            _ = try await transport.client.whoAmI()
        }
    }

    @Test("An answer that cannot be used is not told as an error of the storage")
    func unexpectedAnswers() {
        for error in [MatrixError.malformed(reason: "no rooms"), .tooLarge(limit: 5)] {
            #expect(ChatError.translated(error) as? ChatError == .unexpectedAnswer(reason: "\(error)"))
        }
    }

    @Test func tooDeeplyNestedValuesAreIgnored() async throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let depth = 100_000
            let deep = String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            let body = #"{"a":"# + deep + #","user_id":"@me:a","device_id":"D","b":["# + deep + "]}"
            #expect(try await FakeTransport(200, body).client.whoAmI().user == MemberID("@me:a"))
        }
    }

    @Test func retryAfterDateIsParsed() {
        let now = Date(timeIntervalSince1970: 1_767_323_045)
        let response = MatrixResponse(status: 429, headers: ["retry-after": "Fri, 02 Jan 2026 03:04:15 GMT"])
        #expect(MatrixError(response, now: now) == .busy(retryAfter: .seconds(10)))
    }

    @Test func pathsAndQueriesAreFullyEncoded() async throws {
        let transport = FakeTransport(200, #"{"event_id":"$e","chunk":[]}"#)
        _ = try await transport.client.send("m.room.message", [:], to: .init("!a/../b?c#d%2F é"), transaction: "..")
        let url = try #require(transport.requests.first?.url.absoluteString)
        #expect(
            url
                == "https://example.org/_matrix/client/v3/rooms/%21a%2F..%2Fb%3Fc%23d%252F%20%C3%A9/send/m.room.message/%2E%2E"
        )
        _ = try await transport.client.history(of: .init("!r"), before: "a&b=c+d", limit: 5)
        #expect(transport.requests.last?.url.query?.hasPrefix("from=a%26b%3Dc%2Bd&dir=b&limit=5") == true)
    }

    @Test func tokenIsHiddenInDescriptions() async throws {
        let transport = FakeTransport(200)
        // Only the request matters here, not the response.
        _ = try? await transport.client.whoAmI()
        let request = try #require(transport.requests.first)
        #expect(request.token?.value == "secret")
        for text in ["\(request)", String(reflecting: request), "\(transport.client)"] {
            #expect(!text.contains("secret"))
        }
        var dumped = ""
        dump(request, to: &dumped)
        #expect(!dumped.contains("secret"))
    }

    @Test func loginReturnsTheSessionAndReusesTheDevice() async throws {
        let transport = FakeTransport(200, #"{"user_id":"@a:b","access_token":"t","device_id":"D"}"#)
        let session = try await transport.client.logIn(
            name: "a", password: "p", device: "D", deviceName: "Parlance")
        #expect(session == MatrixSession(user: .init("@a:b"), device: "D", token: AccessToken("t")))
        let request = try #require(transport.requests.first)
        #expect(request.token == nil)
        guard case .json(let body) = request.body else { throw CancellationError() }
        let said = try JSONValue(parsing: body)
        #expect(said["device_id"] == "D")
        #expect(said["identifier"]?["user"] == "a")
        for part in ["user_id", "access_token", "device_id"] {
            let lacking = FakeTransport(
                200, #"{"user_id":"@a:b","access_token":"t","device_id":"D"}"#.replacingOccurrences(of: part, with: "x")
            )
            await #expect(throws: MatrixError.self, "\(part)") {
                _ = try await lacking.client.logIn(name: "a", password: "p", deviceName: "Parlance")
            }
        }
    }

    @Test func loggingOutOfAnEndedSessionSucceeds() async throws {
        try await FakeTransport(401, #"{"errcode":"M_UNKNOWN_TOKEN"}"#).client.logOut()
        await #expect(throws: MatrixError.self) { try await FakeTransport(500).client.logOut() }
    }
}
