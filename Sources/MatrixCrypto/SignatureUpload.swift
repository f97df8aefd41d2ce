import ChatCore
import Foundation
import JSONReading

/// The body of a `keys/signatures/upload`, and what its response says of the signatures. A server answers 200 although
/// it has stored none of them, and names those in `failures`.
struct SignatureUpload {
    enum Outcome: Equatable {
        case stored
        /// Another attempt may succeed.
        case failed
        /// The server will never store these signatures.
        case rejected
    }

    /// Codes that the same signature yields each time. Others may be passing, such as that a server does not know the
    /// signed key yet.
    private static let finalCodes: Set = ["M_INVALID_SIGNATURE", "M_INVALID_PARAM", "M_FORBIDDEN"]

    /// The signed objects: devices, and master keys under the name of the key.
    let objects: [DeviceID]

    /// - Parameter body: As made by this device, so that it can be parsed.
    init(_ body: Data) {
        let users = (try? JSONValue(parsing: body))?.object ?? [:]
        objects = users.flatMap { user, signed in
            (signed.object ?? [:]).keys.map { DeviceID(user: ExactText(user), device: ExactText($0)) }
        }
    }

    /// Anything that cannot be read counts as failed.
    func outcome(in answer: JSONValue) -> Outcome {
        guard answer.object != nil, let failures = answer.failures else { return .failed }
        var outcome = Outcome.stored
        for object in objects {
            guard let ofUser = failures.member(object.user), ofUser != .null else { continue }
            guard let keys = ofUser.object else { return .failed }
            guard let failure = keys.member(object.device) else { continue }
            guard let code = failure["errcode"]?.string, Self.finalCodes.contains(code) else { return .failed }
            outcome = .rejected
        }
        return outcome
    }
}
