import CCurl
import Foundation

/// Why a server's certificate is not trusted.
public enum CertificateProblem: Equatable, Sendable {
    /// The certificate is self-signed or issued by an unknown authority.
    case unknownIssuer
    /// The certificate is for another host name.
    case wrongName
    case expired
    /// Not valid yet according to the local clock, which may be wrong.
    case notYetValid
    case other

    /// - Parameter verification: libcurl's `CURLINFO_SSL_VERIFYRESULT`: an error number of OpenSSL
    ///   (`openssl/x509_vfy.h`) in builds that use it; other TLS libraries' numbers are not interpreted.
    init(verification: Int) {
        guard Self.isOpenSSL else {
            self = .other
            return
        }
        switch verification {
        // The chain is valid, or libcurl checked the name first: the name does not match.
        case 0, 1, 62: self = .wrongName
        case 9: self = .notYetValid
        case 10: self = .expired
        case 18, 19, 20, 21: self = .unknownIssuer
        default: self = .other
        }
    }

    private static let isOpenSSL: Bool = {
        guard let name = parlance_curl_tls() else { return false }
        let text = String(cString: name)
        return text.hasPrefix("OpenSSL") || text.hasPrefix("LibreSSL")
    }()
}
