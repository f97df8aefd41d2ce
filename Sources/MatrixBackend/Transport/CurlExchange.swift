import CCurl
import ChatCore
import Foundation
import Glibc

/// One request and what has come of its answer. Once it has begun, the thread of its loop alone touches it.
final class CurlExchange: @unchecked Sendable {
    /// Bytes of the heads of an answer, those of redirections with it.
    private static let maxHeaderBytes = 256 << 10
    /// Bytes of what a server says in place of a file.
    private static let maxErrorBodyBytes = 1 << 20

    let request: MatrixRequest
    let certificates: URL?
    private(set) var handle: UnsafeMutableRawPointer?
    var isCancelled = false

    /// Lines that were added to the request's head.
    var lines: UnsafeMutablePointer<curl_slist>?
    private var continuation: CheckedContinuation<MatrixResponse, any Error>?
    private var response = MatrixResponse(status: 0)
    private var headCount = 0
    private var isHeadWhole = false
    private var bodyCount = 0
    /// Why the transfer was ended from here.
    private var failure: (any Error)?
    private let source: OpenFile?
    private var target: OpenFile?
    private var reportedPercent = -1

    /// - Throws: ``ChatCore/ChatError/unreadableFile``, ``TransportError`` for a token that fits into no head.
    init(_ request: MatrixRequest, certificates: URL?) throws {
        self.request = request
        self.certificates = certificates
        if let token = request.token, !token.value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw TransportError.unreachable(reason: "the token is none")
        }
        if case .file(let url, _) = request.body {
            source = try OpenFile(reading: url)
        } else {
            source = nil
        }
    }

    /// Bytes of the file that is sent.
    var sourceCount: Int? { source?.count }

    func start(on loop: CurlLoop, _ continuation: CheckedContinuation<MatrixResponse, any Error>) {
        self.continuation = continuation
        loop.start(self)
    }

    /// - Returns: nil if there is no memory, or the request is none that libcurl can make.
    func prepare() -> UnsafeMutableRawPointer? {
        handle = curl_easy_init()
        guard let handle, setOptions(of: handle) else { return nil }
        return handle
    }

    // MARK: What libcurl tells

    /// A line of a head.
    /// - Returns: whether it goes on.
    func receiveHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headCount += bytes.count
        guard headCount <= Self.maxHeaderBytes else { return stop(TransportError.tooLarge(limit: Self.maxHeaderBytes)) }
        let line = String(decoding: bytes, as: UTF8.self)
        if line.hasPrefix("HTTP/") {
            // What came before was the head of a redirection, or of an answer that is not the last.
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

    /// A piece of the body, unpacked.
    /// - Returns: whether it goes on.
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

    /// - Returns: how many bytes of the file that is sent were read, nil if it cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        do {
            return try source?.read(into: buffer)
        } catch {
            _ = stop(error)
            return nil
        }
    }

    func rewind(to offset: Int) -> Bool { source?.seek(to: offset) ?? false }

    /// At most a hundred times: a transfer tells it for each piece.
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

    /// What a server says in place of a file is no part of it, and is kept apart.
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

    // MARK: The end

    func finish(_ result: CURLcode) {
        do {
            if let failure { throw failure }
            guard result == CURLE_OK else { throw error(result) }
            response.status = status
            // To libcurl a head that breaks off is one.
            guard response.status > 0, isHeadWhole else { throw TransportError.unreachable(reason: "no whole answer") }
            // An empty file is a file.
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
        curl_easy_cleanup(handle)
        curl_slist_free_all(lines)
        handle = nil
        lines = nil
        target = nil
    }

    /// In words that have no address in them.
    private func error(_ code: CURLcode) -> TransportError {
        switch code {
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_FILESIZE_EXCEEDED: return .tooLarge(limit: request.limit)
        case CURLE_PEER_FAILED_VERIFICATION:
            var result = 0
            if let handle { _ = parlance_curl_get_number(handle, CURLINFO_SSL_VERIFYRESULT, &result) }
            return .untrusted(CertificateProblem(verification: result))
        default: return .unreachable(reason: String(cString: curl_easy_strerror(code)))
        }
    }
}
