import ChatCore
import Foundation
import JSONReading

/// Signatures on their way to the server.
extension CryptoMachine {
    /// The number of attempts to upload a signature, which take half a day. A restart begins anew.
    static let maxSignatureAttempts = 20

    /// Applies the response to an upload of signatures, which stay queued until the server has stored them.
    func answered(
        _ body: Data, as number: UInt64, with answer: JSONValue, _ state: inout State, _ change: inout CryptoChange,
        at now: Date
    ) async throws {
        switch SignatureUpload(body).outcome(in: answer) {
        case .stored: state.removeSignatures(number)
        case .failed:
            var delay = state.signatureDelays[number] ?? RetryDelay()
            delay.extend(from: now)
            guard delay.failures < Self.maxSignatureAttempts else {
                return try await rejected(body, as: number, &state, &change)
            }
            state.signatureDelays[number] = delay
        case .rejected: try await rejected(body, as: number, &state, &change)
        }
    }

    /// Handles the final rejection of signatures: they are not uploaded again, and what only the server makes true is
    /// undone.
    ///
    /// Another user stays verified on this device, which has seen the proof. Otherwise, a server could end the
    /// verification, and with it the warning about another identity. Whoever has just compared emoji is told.
    func rejected(
        _ body: Data, as number: UInt64, _ state: inout State, _ change: inout CryptoChange
    ) async throws {
        state.removeSignatures(number)
        for object in SignatureUpload(body).objects {
            // This device was not recorded as confirmed. Each list of the own devices has it signed again: a query here
            // would lead to the next upload, without an end.
            guard object != DeviceID(user: user, device: device) else { continue }
            // The signed keys or those that sign may have changed: what the server has now decides.
            state.tracker.received(changed: [user, object.user], left: [])
            guard object.user == user else {
                // The signature of a former identity says nothing of the verification of a new one.
                let identity = try await Identity.stored(object.user, in: storage)
                if let identity, ExactText("\(identity.master)") == object.device {
                    _ = state.verifications.revoke(of: object.user)
                }
                continue
            }
            try state.revokeVerifications(of: object)
            let devices = try await devices(of: user, &state.tracker)
            guard var keys = devices.first(where: { $0.device == object.device }),
                keys.confirmedBy != nil
            else { continue }
            keys.confirmedBy = nil
            change.merge(CryptoChange(put: [try keys.record()]))
            state.changedUsers.insert(user)
            state.tracker.noteTrustChanged()
        }
    }

    /// Uploads the signatures of other users that a damaged request may have contained.
    func uploadSignaturesAgain(_ state: inout State, _ change: inout CryptoChange) async throws {
        guard state.own?.isVerified == true, try await storage.cryptoRecord(DamagedRecords.signaturesKey) != nil
        else { return }
        // Without the key, they are due until it arrives.
        if let seed = try await PrivateKeys.stored(.userSigning, in: storage, key: key) {
            try await uploadDueSignatures(with: seed, &state, &change)
        }
        change.removed.insert(DamagedRecords.signaturesKey)
    }
}

extension CryptoMachine.State {
    fileprivate mutating func removeSignatures(_ number: UInt64) {
        outgoing.remove(number)
        signatureDelays[number] = nil
    }
}
