public import Composer
import Foundation

/// A valid link target: an absolute address of an allowed scheme, without control characters.
public struct LinkTarget: Hashable, Sendable {
    /// The schemes that the Matrix specification allows in links, and `matrix`. Any other is rejected.
    public enum Scheme: String, CaseIterable, Sendable {
        case https, http, ftp, mailto, magnet, matrix

        private static let names = allCases.map { (scheme: $0, name: Array($0.rawValue.utf8)) }

        /// Parses a scheme's name.
        /// - Parameter isWritten: Whether to match lowercase letters only.
        init?(_ name: some Collection<UInt8>, isWritten: Bool = false) {
            let letter: UInt8 = isWritten ? 0 : 0x20
            let found = Self.names.first { candidate in
                candidate.name.count == name.count && zip(candidate.name, name).allSatisfy { $0 == $1 | letter }
            }
            guard let found else { return nil }
            self = found.scheme
        }

        /// Whether the scheme is followed by `//` and a host.
        var hasHost: Bool { self == .https || self == .http || self == .ftp }
    }

    /// The maximum length of an address in bytes.
    public static let maxLength = 8192

    /// The address, with unsafe characters percent-encoded.
    public let address: String
    public let scheme: Scheme

    /// Parses an address; returns `nil` unless it is absolute and of an allowed scheme.
    public init?(_ text: String) {
        var text = text
        guard let (scheme, isWritten) = text.withUTF8(Self.scheme) else { return nil }
        self.scheme = scheme
        if isWritten {
            address = text
        } else {
            // Browsers remove these characters before they parse the scheme.
            let bytes = Array(text.utf8).filter { $0 >= 0x20 }
            let rest = Self.trimmed(bytes.drop { $0 != UInt8(ascii: ":") }.dropFirst())
            guard !rest.isEmpty, !scheme.hasHost || rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else {
                return nil
            }
            address = scheme.rawValue + ":" + Self.encoded(rest)
        }
        if address.utf8.count > Self.maxLength || (scheme.hasHost && hostBytes { $0.isEmpty } ?? true) {
            return nil
        }
    }

    /// Returns the scheme, and whether the bytes need no normalization; `nil` without an allowed scheme.
    private static func scheme(_ bytes: UnsafeBufferPointer<UInt8>) -> (Scheme, isWritten: Bool)? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let isPlain = isPlain
        let rest = bytes[(colon + 1)...]
        if let scheme = Scheme(bytes[..<colon], isWritten: true), rest.count > 2, rest.allSatisfy({ isPlain[Int($0)] }),
            !scheme.hasHost || rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")])
        {
            return (scheme, true)
        }
        let name = bytes[..<colon].filter { $0 >= 0x20 }.drop { $0 == 0x20 }
        return Scheme(name).map { ($0, false) }
    }

    public init?(_ text: Substring) {
        self.init(String(text))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop { $0 == 0x20 }
        while bytes.last == 0x20 { bytes.removeLast() }
        return bytes
    }

    /// Whether each byte is retained unescaped.
    private static let isPlain = (0..<256).map { (byte: Int) -> Bool in
        byte > 0x20 && byte < 0x7F && !"\\\"<>`^{}|".utf8.contains(UInt8(byte))
    }

    /// Percent-encodes unsafe bytes. Browsers treat a backslash as a slash, so `https://good\@bad` would have a
    /// misleading host.
    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(where: { !isPlain[Int($0)] }) else { return String(decoding: bytes, as: UTF8.self) }
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case ...0x20, 0x7F, UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
                UInt8(ascii: "`"), UInt8(ascii: "^"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "|"):
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self).unicodeScalars.reduce(into: "") { text, scalar in
            if HiddenCharacters.contains(scalar) {
                for byte in String(scalar).utf8 {
                    text += "%" + String(decoding: [digits[Int(byte >> 4)], digits[Int(byte & 15)]], as: UTF8.self)
                }
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }

    /// The authority: host, port and user information (RFC 3986, section 3.2). Works on bytes, because a combining mark
    /// after a slash would form one `Character` with it and hide the end of the host.
    private func authority<Result>(_ read: (Slice<UnsafeBufferPointer<UInt8>>) -> Result) -> Result? {
        guard scheme.hasHost else { return nil }
        var address = address
        return address.withUTF8 { bytes in
            let start = min(scheme.rawValue.utf8.count + 3, bytes.count)
            return read(
                bytes[start...].prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            )
        }
    }

    /// The host as written, without user information and port.
    private func hostBytes<Result>(_ read: (Slice<UnsafeBufferPointer<UInt8>>) -> Result) -> Result? {
        authority { authority in
            let atSign = authority.lastIndex(of: UInt8(ascii: "@"))
            let hostAndPort = atSign.map { authority[($0 + 1)...] } ?? authority
            let end =
                hostAndPort.first == UInt8(ascii: "[")
                ? hostAndPort.firstIndex(of: UInt8(ascii: "]")).map { $0 + 1 }
                : hostAndPort.firstIndex(of: UInt8(ascii: ":"))
            let host = hostAndPort[..<(end ?? hostAndPort.endIndex)]
            return read(host.elementsEqual("[]".utf8) ? host[host.endIndex...] : host)
        }
    }

    /// Whether the host is preceded by user information, as in `https://bank.example@evil.example/`.
    public var hasCredentials: Bool { authority { $0.contains(UInt8(ascii: "@")) } ?? false }

    /// The lowercased host without port; for `mailto` the domain of the address. `nil` for other schemes.
    public var host: String? {
        if scheme == .mailto {
            let components = address.utf8.dropFirst(7).prefix { $0 != UInt8(ascii: "?") }.split(
                separator: UInt8(ascii: "@"))
            return components.last.map { String(Substring($0)).lowercased() }
        }
        return hostBytes { host in
            let isLower = host.allSatisfy { $0 < 0x80 && !($0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z")) }
            let text = String(decoding: host, as: UTF8.self)
            return isLower ? text : text.lowercased()
        }
    }

    /// Whether the host is an internationalized domain name, which may contain homoglyphs.
    public var hasInternationalHost: Bool { host.map(Self.isInternational) ?? false }

    static func isInternational(_ host: String) -> Bool {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        return host.utf8.contains(UInt8(ascii: "-")) && host.split(separator: ".").contains { $0.hasPrefix("xn--") }
    }

    /// The member or room that the address links to, for `https://matrix.to/#/…` and `matrix:u/…`.
    public var mention: MentionTarget? {
        if scheme == .matrix { return Self.mention(matrixURI: address.dropFirst(7)) }
        guard scheme == .https || scheme == .http, address.utf8.contains(UInt8(ascii: "#")), host == "matrix.to",
            let fragmentStart = address.firstRange(of: "#/")
        else { return nil }
        let path = address[fragmentStart.upperBound...]
        let identifier = path.prefix { $0 != "?" && $0 != "/" }
        guard let decoded = String(identifier).removingPercentEncoding else { return nil }
        switch decoded.first {
        case "@": return decoded.contains(":") ? .member(decoded) : nil
        // Room IDs have no server name since room version 12.
        case "#" where decoded.contains(":"), "!":
            return path.prefix { $0 != "?" }.contains("/") ? nil : .room(decoded, via: Self.servers(in: path))
        default: return nil
        }
    }

    private static func mention(matrixURI uri: Substring) -> MentionTarget? {
        let components = uri.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        guard components.count == 2, let name = components[1].removingPercentEncoding else { return nil }
        switch components[0] {
        case "u" where name.contains(":"), "user" where name.contains(":"): return .member("@" + name)
        case "r" where name.contains(":"): return .room("#" + name, via: servers(in: uri))
        case "roomid": return .room("!" + name, via: servers(in: uri))
        default: return nil
        }
    }

    /// The `via` parameters of a room link.
    private static func servers(in address: Substring) -> [String] {
        guard let query = address.firstIndex(of: "?") else { return [] }
        return address[address.index(after: query)...].split(separator: "&").prefix(20).compactMap { parameter in
            parameter.hasPrefix("via=") ? String(parameter.dropFirst(4)).removingPercentEncoding : nil
        }.filter { !$0.isEmpty }
    }
}
