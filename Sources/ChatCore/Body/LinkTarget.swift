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

    /// A backslash is a slash to browsers, so that `https://good\@bad` would lead elsewhere than it seems to.
    private static func encoded(_ bytes: ArraySlice<UInt8>) -> String {
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

    /// What stands between `//` and the path: host, port and, before an `@`, a name that is sent along. By scalars: a
    /// mark over a slash makes one character of both, and ends the host all the same.
    private var authority: Substring.UnicodeScalarView? {
        guard scheme.hasHost else { return nil }
        return address.unicodeScalars.dropFirst(scheme.rawValue.count + 3).prefix { !"/?#".unicodeScalars.contains($0) }
    }

    /// Whether a name or password stands before the host, as in `https://bank.example@evil.example/`.
    public var hasCredentials: Bool { authority?.contains("@") ?? false }

    /// The host, lowercased, without port; for `mailto` the part after the `@`. Nil for other schemes.
    public var host: String? {
        if scheme == .mailto {
            let place = address.unicodeScalars.dropFirst(7).prefix { $0 != "?" }.split(separator: "@").last
            return place.map { String($0).lowercased() }
        }
        guard let authority else { return nil }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        let end = place.first == "[" ? place.firstIndex(of: "]").map(place.index(after:)) : place.firstIndex(of: ":")
        let host = String(place[..<(end ?? place.endIndex)])
        return host.isEmpty || host == "[]" ? nil : host.lowercased()
    }

    /// Whether the host is written, or would be, with letters beyond ASCII, some of which look like others.
    public var hasInternationalHost: Bool {
        guard let host else { return false }
        return !host.utf8.allSatisfy { $0 < 0x80 } || host.split(separator: ".").contains { $0.hasPrefix("xn--") }
    }

    /// The member or room that the address names, for `https://matrix.to/#/…` and `matrix:u/…`.
    public var mention: BodyMention? {
        if scheme == .matrix { return Self.mention(matrixURI: address.dropFirst(7)) }
        guard scheme == .https || scheme == .http, host == "matrix.to", let mark = address.firstRange(of: "#/") else {
            return nil
        }
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
