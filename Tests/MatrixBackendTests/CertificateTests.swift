import ChatTestSupport
import Foundation
import Testing

@testable import MatrixBackend

/// Servers whose TLS certificates fail verification.
@Suite(.timeLimit(.minutes(10))) struct CertificateTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        var names = "IP:127.0.0.1"
        var begin = Date(timeIntervalSinceNow: -86400)
        var end = Date(timeIntervalSinceNow: 86400)
        var isTrusted = true
        let problem: CertificateProblem?

        var testDescription: String { problem.map { "\($0)" } ?? "good" }
    }

    private static let cases = [
        Case(problem: nil),
        Case(isTrusted: false, problem: .unknownIssuer),
        Case(names: "DNS:example.org", problem: .wrongName),
        Case(end: Date(timeIntervalSinceNow: -3600), problem: .expired),
        Case(begin: Date(timeIntervalSinceNow: 3600), problem: .notYetValid),
    ]

    @Test(arguments: cases) private func certificateProblemIsReported(_ one: Case) async throws {
        let server = try TLSServer(names: one.names, from: one.begin, to: one.end)
        defer { server.stop() }
        let transport = CurlTransport(certificates: one.isTrusted ? server.certificate : nil)
        let client = MatrixClient(server: server.url, token: AccessToken("secret"), transport: transport)
        guard let problem = one.problem else {
            #expect(try await transport.send(client.request(.get, ["client"])).status == 200)
            return
        }
        await #expect(throws: MatrixError.untrusted(problem)) { _ = try await client.whoAmI() }
        await #expect(throws: Discovery.Problem.untrusted(problem)) {
            _ = try await Discovery(transport: transport).homeserver(for: server.url.absoluteString)
        }
    }

    @Test func serverWithoutTLSIsUnreachable() async throws {
        let server = try ScriptedServer([.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        defer { server.stop() }
        let url = try #require(URL(string: server.url.absoluteString.replacing("http:", with: "https:")))
        do {
            _ = try await CurlTransport().send(MatrixRequest(.get, url))
            Issue.record("no error")
        } catch TransportError.unreachable {}
    }
}

/// `openssl s_server` with a generated certificate.
private final class TLSServer {
    let url: URL
    let certificate: URL
    private let process = Process()
    private let folder = TemporaryFolder()

    init(names: String, from begin: Date, to end: Date) throws {
        let place = folder.path("server")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        certificate = place.appending(path: "certificate")
        let configuration = """
            [ca]
            default_ca=own
            [own]
            database=index
            new_certs_dir=.
            serial=serial
            default_md=sha256
            policy=any
            [any]
            commonName=supplied
            [extensions]
            basicConstraints=critical,CA:true
            subjectAltName=\(names)
            """
        for (name, text) in [("configuration", configuration), ("index", ""), ("serial", "01\n")] {
            try Data(text.utf8).write(to: place.appending(path: name))
        }
        let time = DateFormatter()
        time.locale = Locale(identifier: "en_US_POSIX")
        time.timeZone = TimeZone(secondsFromGMT: 0)
        time.dateFormat = "yyyyMMddHHmmss'Z'"
        let script = """
            cd "$1" && exec 2>log &&
            openssl ecparam -name prime256v1 -genkey -noout -out key &&
            openssl req -new -config configuration -subj /CN=Parlance -key key -out request &&
            openssl ca -config configuration -selfsign -batch -notext -keyfile key -in request -out certificate \
                -extensions extensions -startdate "$2" -enddate "$3" &&
            exec openssl s_server -accept 127.0.0.1:0 -key key -cert certificate -www
            """
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "sh", place.path, time.string(from: begin), time.string(from: end)]
        let output = Pipe()
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        var said = ""
        // `openssl` prints “ACCEPT 127.0.0.1:PORT” once it listens.
        while let data = try output.fileHandleForReading.read(upToCount: 1), !data.isEmpty {
            said += String(decoding: data, as: UTF8.self)
            if said.contains("ACCEPT"), said.hasSuffix("\n") { break }
        }
        guard let port = said.split(whereSeparator: { $0 == ":" || $0 == "\n" }).last.flatMap({ UInt16($0) }),
            let url = URL(string: "https://127.0.0.1:\(port)")
        else {
            let log = try? String(contentsOf: place.appending(path: "log"), encoding: .utf8)
            throw Failure(description: "openssl does not start: \(said)\(log ?? "")")
        }
        self.url = url
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    struct Failure: Error, CustomStringConvertible { let description: String }
}
