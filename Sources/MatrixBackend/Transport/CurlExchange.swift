import CCurl
import ChatCore
import Foundation
import Glibc

/// A request and its response. After it has started, only the loop's thread accesses it.
final class CurlExchange: @unchecked Sendable {
    /// The maximum size of all response headers, including those of redirects.
    private static let maxHeaderBytes = 256 << 10
    /// The maximum size of an error body where a file was requested.
    private static let maxErrorBodyBytes = 1 << 20

    let request: MatrixRequest
    let certificates: URL?
    private(set) var handle: UnsafeMutableRawPointer?
    var isCancelled = false

    /// The request's additional headers.
    var lines: UnsafeMutablePointer<curl_slist>?
    private var continuation: CheckedContinuation<MatrixResponse, any Error>?
    private var response = MatrixResponse(status: 0)
    private var headCount = 0
    private var isHeadWhole = false
    private var bodyCount = 0
    /// The error with which a callback aborted the transfer.
    private var failure: (any Error)?
    private let source: OpenFile?
    private var target: OpenFile?
    private var reportedPercent = -1
    private var idleCheck: IdleCheck?
    /// When to see whether the transfer is idle; `nil` for never.
    var nextCheck: SuspendingClock.Instant? { idleCheck?.next }

    /// - Throws: ``ChatCore/ChatError/unreadableFile``, or ``TransportError`` for a token that is not valid in a
    ///   header.
    init(_ request: MatrixRequest, certificates: URL?) throws {
        self.request = request
        self.certificates = certificates
        if let token = request.token, !token.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw TransportError.unreachable(reason: "the access token is invalid")
        }
        if case .file(let url, _) = request.body {
            source = try OpenFile(reading: url)
        } else {
            source = nil
        }
    }

    /// The size of the uploaded file in bytes.
    var sourceCount: Int? { source?.count }

    func start(on loop: CurlLoop, _ continuation: CheckedContinuation<MatrixResponse, any Error>) {
        self.continuation = continuation
        loop.start(self)
    }

    /// - Returns: `nil` if memory is exhausted or libcurl rejects an option.
    func prepare() -> UnsafeMutableRawPointer? {
        handle = parlance_curl_easy_init()
        guard let handle, setOptions(of: handle) else { return nil }
        idleCheck = request.idleTimeout.map { IdleCheck(limit: $0, at: .now) }
        return handle
    }

    /// Whether no data came or went for the request's idle timeout.
    func isIdle(at now: SuspendingClock.Instant) -> Bool { idleCheck?.isIdle(at: now) { transferredCount } ?? false }

    /// The number of bytes sent and received; `nil` before the request is sent.
    private var transferredCount: Int? {
        guard let handle else { return nil }
        var (sent, received) = (0, 0)
        _ = parlance_curl_get_number(handle, CURLINFO_REQUEST_SIZE, &sent)
        _ = parlance_curl_get_number(handle, CURLINFO_HEADER_SIZE, &received)
        guard sent > 0 else { return nil }
        var bodies: (curl_off_t, curl_off_t) = (0, 0)
        _ = parlance_curl_get_size(handle, CURLINFO_SIZE_UPLOAD_T, &bodies.0)
        _ = parlance_curl_get_size(handle, CURLINFO_SIZE_DOWNLOAD_T, &bodies.1)
        return sent + received + Int(bodies.0) + Int(bodies.1)
    }

    // MARK: Callbacks of libcurl

    /// Handles a header line.
    /// - Returns: Whether the transfer continues.
    func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headCount += bytes.count
        guard headCount <= Self.maxHeaderBytes else { return stop(TransportError.tooLarge(limit: Self.maxHeaderBytes)) }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // A new response begins: the earlier one was a redirect or informational.
            response.headers = [:]
            isHeadWhole = false
        } else if line == "\r\n" || line == "\n" {
            isHeadWhole = true
        } else if let colon = line.firstIndex(of: ":") {
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
            response.headers[line[..<colon].lowercased()] = value
        }
        return true
    }

    /// Handles a part of the decoded body.
    /// - Returns: Whether the transfer continues.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bodyCount += bytes.count
        do {
            if let target = try openTarget() {
                guard bodyCount <= request.limit else { return stop(TransportError.tooLarge(limit: request.limit)) }
                try target.write(bytes)
            } else {
                let limit = request.destination == .memory ? request.limit : min(request.limit, Self.maxErrorBodyBytes)
                guard bodyCount <= limit else { return stop(TransportError.tooLarge(limit: limit)) }
                response.body.append(contentsOf: bytes)
            }
        } catch {
            return stop(error)
        }
        return true
    }

    /// - Returns: The number of bytes read from the uploaded file, or `nil` on a read error.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do {
            return try source?.read(into: buffer)
        } catch {
            _ = stop(error)
            return nil
        }
    }

    func rewind(to offset: Int) -> Bool { source?.seek(to: offset) ?? false }

    /// Reports whole percents only: libcurl calls this for each part of a transfer.
    func reportProgress(_ count: Int, of all: Int) {
        guard all > 0, let progress = request.progress else { return }
        let percent = min(100, count * 100 / all)
        guard percent != reportedPercent else { return }
        reportedPercent = percent
        progress(Double(percent) / 100)
    }

    private func stop(_ error: any Error) -> Bool {
        failure = failure ?? error
        return false
    }

    /// Opens the destination for a successful response; error bodies stay in memory.
    private func openTarget() throws -> OpenFile? {
        guard case .file(let url) = request.destination, status == 200 else { return nil }
        if target == nil { target = try OpenFile(making: url) }
        return target
    }

    private var status: Int {
        var status = 0
        if let handle { _ = parlance_curl_get_number(handle, CURLINFO_RESPONSE_CODE, &status) }
        return status
    }

    // MARK: Completion

    func finish(_ result: CURLcode) {
        do {
            if let failure { throw failure }
            guard result == CURLE_OK else { throw error(result) }
            response.status = status
            // libcurl accepts truncated headers.
            guard response.status > 0, isHeadWhole else {
                throw TransportError.unreachable(reason: "the response is incomplete")
            }
            // Create the file even for an empty body.
            _ = try openTarget()
        } catch {
            return finish(throwing: error)
        }
        release()
        continuation?.resume(returning: response)
        continuation = nil
    }

    func finish(throwing error: any Error) {
        release()
        continuation?.resume(throwing: error)
        continuation = nil
    }

    private func release() {
        if handle != nil { parlance_curl_easy_cleanup(handle) }
        if lines != nil { parlance_curl_slist_free_all(lines) }
        handle = nil
        lines = nil
        target = nil
    }

    /// Maps an error of libcurl, without the URL.
    private func error(_ code: CURLcode) -> TransportError {
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            var sent = 0
            if let handle { _ = parlance_curl_get_number(handle, CURLINFO_REQUEST_SIZE, &sent) }
            return sent > 0 ? .timedOut : .unreachable(reason: "no connection in time")
        case CURLE_FILESIZE_EXCEEDED: return .tooLarge(limit: request.limit)
        case CURLE_PEER_FAILED_VERIFICATION:
            var result = 0
            if let handle { _ = parlance_curl_get_number(handle, CURLINFO_SSL_VERIFYRESULT, &result) }
            return .untrusted(CertificateProblem(verification: result))
        default: return .unreachable(reason: String(cString: parlance_curl_easy_strerror(code)))
        }
    }
}
