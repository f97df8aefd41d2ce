import Foundation
import JSONReading

/// Why a server did not do what it was asked for. Reasons are technical: they hold no token and no message text.
public enum MatrixError: Error, Equatable, Sendable {
    /// No answer came, or one that says nothing of the request, such as a gateway's: to be tried again.
    case unreachable(reason: String)
    /// The server does not prove to be who it should be: nothing was sent to it. Another network may lead to it.
    case untrusted(CertificateProblem)
    /// The server asks to be left alone for so long.
    case busy(retryAfter: Duration)
    /// The token is not known (any more). If `isSoft`, signing in again goes on where it was.
    case signedOut(isSoft: Bool)
    /// The server's own word: it does not do this.
    case rejected(status: Int, code: String, reason: String)
    /// The answer is none that the specification allows.
    case malformed(reason: String)
    /// The answer has more than so many bytes.
    case tooLarge(limit: Int)

    /// What an answer that is no success says.
    init(_ response: MatrixResponse, now: Date = Date()) {
        let body = try? JSONValue(parsing: response.body)
        let code = body?["errcode"]?.string
        let status = response.status
        switch (status, code) {
        case (429, _), (_, "M_LIMIT_EXCEEDED"):
            self = .busy(retryAfter: Self.pause(response.headers["retry-after"], body?["retry_after_ms"], now))
        case (401, "M_UNKNOWN_TOKEN"):
            self = .signedOut(isSoft: body?["soft_logout"]?.bool ?? false)
        case (408, _), (425, _), (500..., _):
            self = .unreachable(reason: "status \(status)\(code.map { " " + Self.short($0) } ?? "")")
        case (_, let code?):
            self = .rejected(
                status: status, code: Self.short(code), reason: Self.short(body?["error"]?.string ?? ""))
        case (413, _), (414, _), (431, _):
            // A gateway's word is as good here: what is too large for it never gets to the server.
            self = .rejected(status: status, code: "M_TOO_LARGE", reason: "")
        default:
            // A page of a gateway, or of something that is no homeserver.
            self = .unreachable(reason: "status \(status), not from a homeserver")
        }
    }

    init(_ error: TransportError) {
        switch error {
        case .unreachable(let reason): self = .unreachable(reason: reason)
        case .untrusted(let problem): self = .untrusted(problem)
        case .timedOut: self = .unreachable(reason: "timed out")
        case .tooLarge(let limit): self = .tooLarge(limit: limit)
        }
    }

    /// Whether the same request may succeed later.
    public var isTransient: Bool {
        switch self {
        case .unreachable, .untrusted, .busy: true
        case .signedOut, .rejected, .malformed, .tooLarge: false
        }
    }

    /// Seconds, a date, or milliseconds in the body; between nothing and an hour, whatever is said.
    private static func pause(_ header: String?, _ field: JSONValue?, _ now: Date) -> Duration {
        var seconds = header.flatMap { Double($0.trimmingCharacters(in: .whitespaces)) }
        if seconds == nil, let header { seconds = date(header)?.timeIntervalSince(now) }
        if seconds == nil { seconds = field?.double.map { $0 / 1000 } }
        guard let seconds, seconds.isFinite else { return .seconds(5) }
        return .milliseconds(Int(min(max(seconds, 0), 3600) * 1000))
    }

    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.date(from: text)
    }

    private static func short(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(200)))
    }
}
