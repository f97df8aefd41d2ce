import CCurl
import Foundation

/// Why a server's certificate is not accepted.
public enum CertificateProblem: Equatable, Sendable {
    /// Nobody vouches for it but itself, or somebody that is not known.
    case unknownIssuer
    /// It is another server's.
    case wrongName
    case expired
    /// By this computer's clock, which may be wrong.
    case notYetValid
    case other

    /// - Parameter verification: what libcurl tells of it, a number of OpenSSL (`openssl/x509_vfy.h`) in the builds that
    ///   use that; others' numbers say nothing here.
    init(verification: Int) {
        guard Self.isOpenSSL else {
            self = .other
            return
        }
        switch verification {
        // The chain is in order, or libcurl looked at the name first: what is left is the name.
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
