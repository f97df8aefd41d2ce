import CCurl
import Foundation
import Glibc

extension CurlExchange {
    /// `TCP_USER_TIMEOUT` in milliseconds: detects connections that a network change or suspend has broken, before
    /// further requests reuse them.
    private static let unacknowledged: Int32 = 30_000

    /// - Returns: Whether all options were set.
    func setOptions(of handle: UnsafeMutableRawPointer) -> Bool {
        let isSecure = request.url.scheme?.lowercased() == "https"
        let milliseconds = max(1, Int(clamping: Int64(request.timeout / .milliseconds(1))))
        let connecting = max(1, Int(clamping: Int64(request.connectTimeout / .milliseconds(1))))
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1),
            // Do not wait for the resolver thread when a request ends.
            (CURLOPT_QUICK_EXIT, 1),
            (CURLOPT_TIMEOUT_MS, milliseconds), (CURLOPT_CONNECTTIMEOUT_MS, connecting),
            (CURLOPT_TCP_KEEPALIVE, 1), (CURLOPT_TCP_KEEPIDLE, 30), (CURLOPT_TCP_KEEPINTVL, 10),
            (CURLOPT_SSL_VERIFYPEER, 1), (CURLOPT_SSL_VERIFYHOST, 2),
            (CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS), (CURLOPT_PIPEWAIT, isSecure ? 1 : 0),
            // Paths are percent-encoded; dot segments are names and must not be resolved.
            (CURLOPT_PATH_AS_IS, 1), (CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
            // Since 7.83 libcurl does not forward the token to another host, port or scheme.
            (CURLOPT_FRESH_CONNECT, request.isOnce ? 1 : 0),
            (CURLOPT_FOLLOWLOCATION, request.followsRedirects ? 1 : 0), (CURLOPT_MAXREDIRS, 5),
        ]
        for (option, number) in numbers where parlance_curl_set_number(handle, option, number) != CURLE_OK {
            return false
        }
        var texts: [(CURLoption, String)] = [
            (CURLOPT_URL, request.url.absoluteString), (CURLOPT_PROTOCOLS_STR, "http,https"),
            (CURLOPT_REDIR_PROTOCOLS_STR, isSecure ? "https" : "http,https"), (CURLOPT_USERAGENT, "Parlance"),
            // All encodings that libcurl supports.
            (CURLOPT_ACCEPT_ENCODING, ""),
        ]
        // Requests to this computer bypass the proxy.
        if Discovery.isThisComputer(request.url.host() ?? "") { texts.append((CURLOPT_PROXY, "")) }
        if let certificates { texts.append((CURLOPT_CAINFO, certificates.path)) }
        for (option, text) in texts where parlance_curl_set_text(handle, option, text) != CURLE_OK { return false }
        _ = parlance_curl_set_size(handle, CURLOPT_MAXFILESIZE_LARGE, curl_off_t(request.limit))
        return setBody(of: handle) && setFunctions(of: handle)
    }

    private func setBody(of handle: UnsafeMutableRawPointer) -> Bool {
        if let token = request.token {
            lines = parlance_curl_slist_append(lines, "Authorization: Bearer \(token.value)")
        }
        var result = CURLE_OK
        switch request.body {
        case .none:
            if request.method != .get { result = setData(Data(), of: handle) }
        case .json(let data):
            lines = parlance_curl_slist_append(lines, "Content-Type: application/json")
            result = setData(data, of: handle)
        case .file(_, let type):
            let isPlain = type.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            lines = parlance_curl_slist_append(lines, "Content-Type: \(isPlain ? type : "application/octet-stream")")
            result = parlance_curl_set_number(handle, CURLOPT_POST, 1)
            _ = parlance_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(sourceCount ?? 0))
        }
        guard result == CURLE_OK, parlance_curl_set_list(handle, CURLOPT_HTTPHEADER, lines) == CURLE_OK else {
            return false
        }
        // The body option implies GET or POST, and lets a redirect turn POST into GET.
        guard request.method == .put || request.method == .delete else { return true }
        return parlance_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, request.method.rawValue) == CURLE_OK
    }

    /// libcurl copies the data.
    private func setData(_ data: Data, of handle: UnsafeMutableRawPointer) -> CURLcode {
        _ = parlance_curl_set_number(handle, CURLOPT_POST, 1)
        _ = parlance_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(data.count))
        return (data + [0]).withUnsafeBytes { bytes in
            parlance_curl_set_text(
                handle, CURLOPT_COPYPOSTFIELDS, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
        }
    }

    private func setFunctions(of handle: UnsafeMutableRawPointer) -> Bool {
        // Unretained: the loop retains the exchange until the handle is freed.
        let userData = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_XFERINFODATA]
        {
            guard parlance_curl_set_pointer(handle, option, userData) == CURLE_OK else { return false }
        }
        _ = parlance_curl_on_head(handle) { bytes, size, count, userData in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(userData).receiveHeader(bytes) ? bytes.count : 0
        }
        _ = parlance_curl_on_body(handle) { bytes, size, count, userData in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(userData).receiveBody(bytes) ? bytes.count : 0
        }
        _ = parlance_curl_on_read(handle) { bytes, size, count, userData in
            let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
            return CurlExchange.from(userData).read(into: buffer) ?? Int(CURL_READFUNC_ABORT)
        }
        _ = parlance_curl_on_seek(handle) { userData, offset, origin in
            origin == SEEK_SET && CurlExchange.from(userData).rewind(to: Int(offset))
                ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
        }
        _ = parlance_curl_on_socket(handle) { _, socket, _ in
            // Child processes must not inherit the socket.
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            var limit = CurlExchange.unacknowledged
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit, socklen_t(MemoryLayout<Int32>.size))
            return CURL_SOCKOPT_OK
        }
        guard request.progress != nil else { return true }
        _ = parlance_curl_set_number(handle, CURLOPT_NOPROGRESS, 0)
        _ = parlance_curl_on_progress(handle) { userData, fetching, fetched, sending, sent in
            let exchange = CurlExchange.from(userData)
            if exchange.sourceCount == nil {
                exchange.reportProgress(Int(fetched), of: Int(fetching))
            } else {
                exchange.reportProgress(Int(sent), of: Int(sending))
            }
            return 0
        }
        return true
    }

    fileprivate static func from(_ userData: UnsafeMutableRawPointer?) -> CurlExchange {
        guard let userData else { preconditionFailure("libcurl gives back what it was given") }
        return Unmanaged<CurlExchange>.fromOpaque(userData).takeUnretainedValue()
    }
}
