import Foundation

/// An address that a link may lead to: absolute, of an allowed scheme, without control characters.
public struct LinkTarget: Hashable, Sendable {
    /// The schemes of the Matrix specification's list, and its own. Nothing else is ever a link.
    public enum Scheme: String, CaseIterable, Sendable {
        case https, http, ftp, mailto, magnet, matrix

        /// Whether such an address begins with a host.
        var hasHost: Bool { self == .https || self == .http || self == .ftp }
    }

    /// The longest address in bytes.
    public static let maximumLength = 8192

    /// The address, with what must not stand in one percent-encoded.
    public let address: String
    public let scheme: Scheme

    /// - Returns: nil unless the address is absolute and of an allowed scheme.
    public init?(_ text: some StringProtocol) {
        // What browsers drop before they look at the scheme.
        let bytes = text.utf8.filter { $0 >= 0x20 }
        guard bytes.count <= Self.maximumLength, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(decoding: bytes[..<colon].drop { $0 == 0x20 }, as: UTF8.self).lowercased()
        guard let scheme = Scheme(rawValue: name) else { return nil }
        let rest = Self.trimmed(bytes[(colon + 1)...])
        guard !rest.isEmpty else { return nil }
        if scheme.hasHost {
            guard rest.starts(with: "//".utf8), rest.count > 2 else { return nil }
        }
        self.scheme = scheme
        address = name + ":" + Self.encoded(rest)
        if address.utf8.count > Self.maximumLength || (scheme.hasHost && host == nil) { return nil }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes.drop { $0 == 0x20 }
        while bytes.last == 0x20 { bytes.removeLast() }
        return bytes
    }

    /// The bytes that are kept as they are, whatever stands beside them.
    private static let isPlain = (0..<256).map { byte in
        byte > 0x20 && byte < 0x7F && !"\\\"<>`^{}|".utf8.contains(UInt8(byte))
    }

    /// A backslash is a slash to browsers, so that `https://good\@bad` would lead elsewhere than it seems to.
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

    /// What stands between `//` and the path: host, port and, before an `@`, a name that is sent along. By bytes: a
    /// mark over a slash makes one character of both, and ends the host all the same.
    private var authority: Substring.UTF8View? {
        guard scheme.hasHost else { return nil }
        return address.utf8.dropFirst(scheme.rawValue.utf8.count + 3).prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
    }

    /// Whether a name or password stands before the host, as in `https://bank.example@evil.example/`.
    public var hasCredentials: Bool { authority?.contains(UInt8(ascii: "@")) ?? false }

    /// The host, lowercased, without port; for `mailto` the part after the `@`. Nil for other schemes.
    public var host: String? {
        if scheme == .mailto {
            let place = address.utf8.dropFirst(7).prefix { $0 != UInt8(ascii: "?") }.split(separator: UInt8(ascii: "@"))
            return place.last.map { String(Substring($0)).lowercased() }
        }
        guard let authority else { return nil }
        let mark = authority.lastIndex(of: UInt8(ascii: "@"))
        let place = mark.map { authority[authority.index(after: $0)...] } ?? authority
        let end =
            place.first == UInt8(ascii: "[")
            ? place.firstIndex(of: UInt8(ascii: "]")).map(place.index(after:)) : place.firstIndex(of: UInt8(ascii: ":"))
        let host = String(Substring(place[..<(end ?? place.endIndex)]))
        return host.isEmpty || host == "[]" ? nil : host.lowercased()
    }

    /// Whether the host is written, or would be, with letters beyond ASCII, some of which look like others.
    public var hasInternationalHost: Bool { host.map(Self.isInternational) ?? false }

    static func isInternational(_ host: String) -> Bool {
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        return host.utf8.contains(UInt8(ascii: "-")) && host.split(separator: ".").contains { $0.hasPrefix("xn--") }
    }

    /// The member or room that the address names, for `https://matrix.to/#/…` and `matrix:u/…`.
    public var mention: BodyMention? {
        if scheme == .matrix { return Self.mention(matrixURI: address.dropFirst(7)) }
        guard scheme == .https || scheme == .http, address.utf8.contains(UInt8(ascii: "#")), host == "matrix.to",
            let mark = address.firstRange(of: "#/")
        else { return nil }
        let identifier = address[mark.upperBound...].prefix { $0 != "?" && $0 != "/" }
        guard let decoded = String(identifier).removingPercentEncoding, decoded.contains(":") else { return nil }
        switch decoded.first {
        case "@": return .member(decoded)
        case "#", "!": return address[mark.upperBound...].contains("/") ? nil : .room(decoded)
        default: return nil
        }
    }

    private static func mention(matrixURI path: Substring) -> BodyMention? {
        let parts = path.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        guard parts.count == 2, let name = parts[1].removingPercentEncoding, name.contains(":") else { return nil }
        switch parts[0] {
        case "u", "user": return .member("@" + name)
        case "r": return .room("#" + name)
        case "roomid": return .room("!" + name)
        default: return nil
        }
    }
}
