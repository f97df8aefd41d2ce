public import Foundation
import FoundationNetworking
import Synchronization

/// HTTP through URLSession: no cookies, no cache, no redirections that were not asked for.
public final class URLSessionTransport: MatrixTransport {
    private let session: URLSession
    private let exchanges = Exchanges()

    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpShouldSetCookies = false
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 6
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    /// Cancels what is under way. Nothing can be sent afterwards.
    public func close() { session.invalidateAndCancel() }

    public func send(_ request: MatrixRequest) async throws -> MatrixResponse {
        try Task.checkCancellation()
        let task = try task(for: request)
        let deadline = Task { [exchanges] in
            guard (try? await Task.sleep(for: request.timeout)) != nil else { return }
            exchanges.fail(task, TransportError.timedOut)
        }
        defer { deadline.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                exchanges.begin(task, request, continuation)
                task.resume()
            }
        } onCancel: {
            exchanges.fail(task, CancellationError())
        }
    }

    private func task(for request: MatrixRequest) throws -> URLSessionTask {
        var http = URLRequest(url: request.url)
        http.httpMethod = request.method.rawValue
        // Of silence; the whole exchange has its own.
        http.timeoutInterval = TimeInterval(request.timeout.components.seconds) + 1
        http.setValue("Parlance", forHTTPHeaderField: "User-Agent")
        if let token = request.token { http.setValue("Bearer \(token.value)", forHTTPHeaderField: "Authorization") }
        switch request.body {
        case .none: return session.dataTask(with: http)
        case .json(let data):
            http.setValue("application/json", forHTTPHeaderField: "Content-Type")
            http.httpBody = data
            return session.dataTask(with: http)
        case .file(let url, let type):
            guard FileManager.default.isReadableFile(atPath: url.path) else {
                throw TransportError.unreachable(reason: "the file is gone")
            }
            http.setValue(type, forHTTPHeaderField: "Content-Type")
            return session.uploadTask(with: http, fromFile: url)
        }
    }
}

/// The requests under way, and what has come of their answers.
private final class Exchanges: NSObject, URLSessionDataDelegate {
    private struct Exchange {
        let request: MatrixRequest
        let continuation: CheckedContinuation<MatrixResponse, any Error>
        var response = MatrixResponse(status: 0)
        var count = 0
        var file: FileHandle?
    }

    private struct State {
        var exchanges: [Int: Exchange] = [:]
        /// Those that failed before they began.
        var early: [Int: any Error] = [:]
    }

    private let state = Mutex(State())

    func begin(
        _ task: URLSessionTask, _ request: MatrixRequest,
        _ continuation: CheckedContinuation<MatrixResponse, any Error>
    ) {
        let error: (any Error)? = state.withLock { state in
            if let error = state.early.removeValue(forKey: task.taskIdentifier) { return error }
            state.exchanges[task.taskIdentifier] = Exchange(request: request, continuation: continuation)
            return nil
        }
        guard let error else { return }
        task.cancel()
        continuation.resume(throwing: error)
    }

    func fail(_ task: URLSessionTask, _ error: any Error) {
        let exchange: Exchange? = state.withLock { state in
            if let exchange = state.exchanges.removeValue(forKey: task.taskIdentifier) { return exchange }
            if task.state == .suspended { state.early[task.taskIdentifier] = error }
            return nil
        }
        task.cancel()
        exchange?.continuation.resume(throwing: error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) {
        let follows = state.withLock { $0.exchanges[task.taskIdentifier]?.request.followsRedirects } ?? false
        guard follows, request.url?.scheme == "https" || request.url?.scheme == task.originalRequest?.url?.scheme
        else { return completionHandler(nil) }
        var next = request
        next.setValue(nil, forHTTPHeaderField: "Authorization")
        completionHandler(next)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        guard let http = response as? HTTPURLResponse else { return completionHandler(.cancel) }
        var failure: (any Error)?
        state.withLock { state in
            guard var exchange = state.exchanges.removeValue(forKey: dataTask.taskIdentifier) else { return }
            exchange.response.status = http.statusCode
            for case (let name as String, let value as String) in http.allHeaderFields {
                exchange.response.headers[name.lowercased()] = value
            }
            do {
                exchange.file = try Self.destination(of: exchange)
            } catch {
                failure = error
            }
            state.exchanges[dataTask.taskIdentifier] = exchange
        }
        if let failure {
            fail(dataTask, failure)
            completionHandler(.cancel)
        } else {
            completionHandler(.allow)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let failure: (any Error)? = state.withLock { state in
            // Taken out and put back, so that what came so far is not copied.
            guard var exchange = state.exchanges.removeValue(forKey: dataTask.taskIdentifier) else { return nil }
            defer { state.exchanges[dataTask.taskIdentifier] = exchange }
            exchange.count += data.count
            guard exchange.count <= exchange.request.limit else {
                return TransportError.tooLarge(limit: exchange.request.limit)
            }
            do {
                if let file = exchange.file { try file.write(contentsOf: data) } else { exchange.response.body += data }
            } catch {
                return error
            }
            return nil
        }
        if let failure { fail(dataTask, failure) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard totalBytesExpectedToSend > 0 else { return }
        let progress = state.withLock { $0.exchanges[task.taskIdentifier]?.request.progress }
        progress?(min(1, Double(totalBytesSent) / Double(totalBytesExpectedToSend)))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = state.withLock { $0.exchanges.removeValue(forKey: task.taskIdentifier) }
        guard let exchange else { return }
        try? exchange.file?.close()
        if let error {
            exchange.continuation.resume(throwing: Self.transportError(error))
        } else if exchange.response.status == 0 {
            exchange.continuation.resume(throwing: TransportError.unreachable(reason: "no answer"))
        } else {
            exchange.continuation.resume(returning: exchange.response)
        }
    }

    /// What went wrong is kept apart from the body of what was asked for.
    private static func destination(of exchange: Exchange) throws -> FileHandle? {
        guard case .file(let url) = exchange.request.destination, exchange.response.status == 200 else { return nil }
        guard
            FileManager.default.createFile(
                atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
        return try FileHandle(forWritingTo: url)
    }

    /// By its number: texts of errors have addresses in them.
    private static func transportError(_ error: any Error) -> TransportError {
        guard let error = error as? URLError else { return .unreachable(reason: "\(type(of: error))") }
        return error.code == .timedOut ? .timedOut : .unreachable(reason: "URL error \(error.code.rawValue)")
    }
}
