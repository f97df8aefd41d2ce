import ChatCore
import Foundation
import JSONReading
import Synchronization
import Testing

@testable import MatrixBackend

@Suite(.timeLimit(.minutes(10))) struct InteractiveAuthTests {
    private static let user = MemberID("@me:example.org")
    private static let passwordFlow: JSONValue = [["stages": ["m.login.password"]]]

    /// A server that requires one of these flows, by default a password.
    private func server(
        _ flows: JSONValue = passwordFlow, completed: JSONValue = [], second: JSONValue = [:]
    ) -> FakeTransport {
        .responding { request in
            guard let auth = request.json?["auth"] else {
                return ["status": 401, "flows": flows, "completed": completed, "session": "s1", "params": [:]]
            }
            guard auth["session"] == "s1", auth["password"] == "right" else {
                return [
                    "status": 401, "flows": flows, "session": "s1", "errcode": "M_FORBIDDEN",
                    "error": "Invalid password",
                ]
            }
            return second
        }
    }

    private func call(_ transport: FakeTransport, password: String?) async throws -> JSONValue {
        try await InteractiveAuth(client: transport.client, user: Self.user).call(
            .post, ["client", "v3", "thing"], body: ["a": 1], password: password)
    }

    @Test("A server that requires no authentication is not sent the password.") func noChallenge() async throws {
        let transport = FakeTransport(200, #"{"ok":true}"#)
        #expect(try await call(transport, password: "right") == ["ok": true])
        #expect(transport.requests.map(\.json) == [["a": 1]])
    }

    @Test("A missing password that the server requires is an error.") func passwordRequired() async throws {
        let transport = server()
        await #expect(throws: EncryptionError.passwordRequired) { try await call(transport, password: nil) }
        #expect(transport.requests.count == 1)
    }

    @Test("The password is sent with the user, the session and the request's body.") func password() async throws {
        let transport = server()
        #expect(try await call(transport, password: "right") == [:])
        #expect(
            transport.requests.last?.json == [
                "a": 1,
                "auth": [
                    "type": "m.login.password", "identifier": ["type": "m.id.user", "user": "@me:example.org"],
                    "password": "right", "session": "s1",
                ],
            ])
    }

    @Test("A wrong password is distinguished from further required stages.") func rejections() async throws {
        await #expect(throws: EncryptionError.wrongPassword) { try await call(server(), password: "wrong") }
        let more = server(
            second: [
                "status": 401, "flows": [["stages": ["m.login.password", "m.login.terms"]]],
                "completed": ["m.login.password"],
            ])
        await #expect(throws: EncryptionError.confirmationUnsupported) { try await call(more, password: "right") }
    }

    @Test(
        "The password is not sent to a server that requires other stages.",
        arguments: [
            [["stages": ["m.login.sso"]]], [["stages": ["m.login.password", "m.login.terms"]]], [["stages": []]], [[:]],
            [], [["stages": "m.login.password"]], [["stages": [5]]], ["m.login.password"],
        ] as [JSONValue])
    func otherFlows(_ flows: JSONValue) async throws {
        let transport = server(flows)
        await #expect(throws: EncryptionError.confirmationUnsupported) {
            try await call(transport, password: "right")
        }
        #expect(transport.requests.count == 1)
    }

    @Test("The password is used if it is one of several flows or the last stage of a flow.") func severalFlows()
        async throws
    {
        let flows: JSONValue = [["stages": ["m.login.sso"]], ["stages": ["m.login.password"]]]
        #expect(try await call(server(flows), password: "right") == [:])
        let steps: JSONValue = [["stages": ["m.login.dummy", "m.login.password"]]]
        #expect(try await call(server(steps, completed: ["m.login.dummy"]), password: "right") == [:])
    }

    @Test("Other errors are the same as for any request.") func otherErrors() async throws {
        let expired = FakeTransport(401, #"{"errcode":"M_UNKNOWN_TOKEN"}"#)
        await #expect(throws: MatrixError.signedOut(isSoft: false)) { try await call(expired, password: "right") }
        let limited = FakeTransport(429, #"{"errcode":"M_LIMIT_EXCEEDED","retry_after_ms":1000}"#)
        await #expect(throws: MatrixError.busy(retryAfter: .seconds(1))) { try await call(limited, password: "x") }
        let gateway = FakeTransport(401, "<html>")
        await #expect(throws: MatrixError.unreachable(reason: "status 401, not from a homeserver")) {
            try await call(gateway, password: "right")
        }
        await #expect(throws: MatrixError.malformed(reason: "the answer is no object")) {
            try await call(FakeTransport(200, "[]"), password: nil)
        }
    }

    @Test("Devices are listed, without invalid entries.") func devices() async throws {
        let transport = FakeTransport(
            200,
            #"""
            {"devices":[{"device_id":"A","display_name":"Parlance","last_seen_ts":1700000000000,"last_seen_ip":"::1"},
            {"device_id":"B","display_name":null,"last_seen_ts":"x"},{"device_id":""},{"device_id":5},7]}
            """#)
        let devices = try await transport.client.devices()
        #expect(devices.map(\.id) == ["A", "B"])
        #expect(devices.map(\.name) == ["Parlance", ""])
        #expect(devices.map(\.lastSeen) == [Date(timeIntervalSince1970: 1_700_000_000), nil])
        await #expect(throws: MatrixError.malformed(reason: "an answer without devices")) {
            try await FakeTransport(200, #"{"devices":{}}"#).client.devices()
        }
    }

    @Test("Devices are renamed, and signed out with the password.") func changes() async throws {
        let transport = server()
        try await transport.client.deleteDevices(["A", "B"], of: Self.user, password: "right")
        let request = try #require(transport.requests.last)
        #expect(request.method == .post && request.url.path == "/_matrix/client/v3/delete_devices")
        #expect(request.json?["devices"] == ["A", "B"])
        let other = FakeTransport(200)
        try await other.client.renameDevice("A/B", to: "Küche")
        let rename = try #require(other.requests.last)
        #expect(rename.method == .put && rename.url.absoluteString.hasSuffix("/devices/A%2FB"))
        #expect(rename.json == ["display_name": "Küche"])
    }

    @Test("Errors of the server and the disk are translated for the user.") func translation() {
        func told(_ error: any Error) -> EncryptionError? { EncryptionError.translated(error) as? EncryptionError }
        #expect(told(MatrixError.rejected(status: 403, code: "M_FORBIDDEN", reason: "No")) == .rejected(reason: "No"))
        #expect(
            told(MatrixError.rejected(status: 403, code: "M_FORBIDDEN", reason: "")) == .rejected(reason: "M_FORBIDDEN")
        )
        #expect(told(MatrixError.busy(retryAfter: .zero)) == .unreachable)
        #expect(told(MatrixError.unreachable(reason: "x")) == .unreachable)
        #expect(told(ChatError.storage(reason: "full")) == .storage(reason: "full"))
        #expect(told(ChatError.unexpectedAnswer(reason: "no rooms")) == .rejected(reason: "no rooms"))
        #expect(told(EncryptionError.wrongPassword) == .wrongPassword)
        #expect(told(CancellationError()) == nil)
    }
}
