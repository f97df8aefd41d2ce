import Foundation
import JSONReading

/// Why a request failed. Reasons are technical and contain neither tokens nor message text.
public enum MatrixError: Error, Equatable, Sendable {
    /// No response, or one that does not concern the request, such as a gateway's: retry later.
    /// - `isTimeout`: Whether the request was sent, but was not answered in time: a smaller one may succeed.
    case unreachable(reason: String, isTimeout: Bool = false)
    /// The server's certificate is not trusted, so nothing was sent. Another network may reach the server.
    case untrusted(CertificateProblem)
    /// The server limits the rate of requests.
    case busy(retryAfter: Duration)
    /// The access token is invalid. If `isSoft`, signing in again resumes the session.
    case signedOut(isSoft: Bool)
    /// The server rejected the request with an error code.
    case rejected(status: Int, code: String, reason: String)
    /// The response violates the specification.
    case malformed(reason: String)
    /// The response exceeds this many bytes.
    case tooLarge(limit: Int)

    /// Maps an unsuccessful response.
    init(_ response: MatrixResponse, now: Date = Date()) {
        // Gateways answer with pages that are not JSON.
        let body = try? JSONValue(parsing: response.body)
        let code = body?["errcode"]?.string
        let status = response.status
        switch (status, code) {
        case (429, _), (_, "M_LIMIT_EXCEEDED"):
            self = .busy(retryAfter: Self.pause(response.headers["retry-after"], body?["retry_after_ms"], now))
        case (401, "M_UNKNOWN_TOKEN"):
            self = .signedOut(isSoft: body?["soft_logout"]?.bool ?? false)
        case (401, "M_MISSING_TOKEN"):
            // Sent before the keyring was unlocked, or a proxy removed the token: it says nothing of the request.
            self = .unreachable(reason: "no access token")
        case (408, _), (425, _), (500..., _):
            self = .unreachable(
                reason: "status \(status)\(code.map { " " + Self.short($0) } ?? "")",
                isTimeout: Self.gatewayTimeouts.contains(status))
        case (_, let code?):
            self = .rejected(
                status: status, code: Self.short(code), reason: Self.short(body?["error"]?.string ?? ""))
        case (413, _), (414, _), (431, _):
            // A gateway's status counts as well: the request would never reach the server.
            self = .rejected(status: status, code: "M_TOO_LARGE", reason: "")
        default:
            // An error page of a gateway, or of something that is not a homeserver.
            self = .unreachable(reason: "status \(status), not from a homeserver")
        }
    }

    init(_ error: TransportError) {
        switch error {
        case .unreachable(let reason): self = .unreachable(reason: reason)
        case .untrusted(let problem): self = .untrusted(problem)
        case .timedOut: self = .unreachable(reason: "timed out", isTimeout: true)
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

    /// Whether the server rejects such requests for now, because of the account or of its own set-up: that says nothing
    /// of this request. It may last until the user or an administrator has done something.
    public var isAboutAccount: Bool {
        switch self {
        case .rejected(_, "M_CONSENT_NOT_GIVEN", _), .rejected(_, "M_RESOURCE_LIMIT_EXCEEDED", _),
            .rejected(401, "M_USER_LOCKED", _):
            true
        // As of a proxy that sends the request to the wrong worker.
        case .rejected(404, "M_UNRECOGNIZED", _): true
        default: false
        }
    }

    /// Whether the same request may be accepted later without the user doing anything: ``isAboutAccount``, except for
    /// terms that they have to accept. For uploads see ``MatrixOutboxBackend``.
    var isBlockedForNow: Bool {
        switch self {
        case .rejected(_, "M_CONSENT_NOT_GIVEN", _): false
        // A limit of what is uploaded: with each attempt, the whole file would be sent in vain.
        case .rejected(400, "M_RESOURCE_LIMIT_EXCEEDED", _): false
        default: isAboutAccount
        }
    }

    /// Parses `Retry-After` (seconds or a date) or `retry_after_ms`, clamped to an hour; 5 seconds by default.
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

    /// The server behind a gateway did not answer it in time; 524 is Cloudflare's.
    private static let gatewayTimeouts: Set = [504, 524]

    private static func short(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(200)))
    }
}
