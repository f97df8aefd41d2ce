import ChatCore
import Foundation

/// The users whose marked sessions are to be compared with their device lists. They are recorded, as a device may be
/// signed out before its sessions are.
struct PendingConfirmations {
    /// The identifier of the last mark that was compared, by user.
    private var users: [ExactText: ExactText]

    init(in storage: any CryptoStorage) async throws {
        users = Dictionary(
            try await storage.cryptoRecords(.pendingConfirmation, owner: nil).map {
                ($0.key.owner, ExactText(bytes: $0.value))
            }
        ) { first, _ in first }
    }

    var isEmpty: Bool { users.isEmpty }
    var next: (user: ExactText, last: ExactText)? { users.first.map { ($0.key, $0.value) } }

    mutating func begin(_ user: ExactText) -> CryptoRecord { proceed(user, to: "") }

    mutating func proceed(_ user: ExactText, to last: ExactText) -> CryptoRecord {
        users[user] = last
        return CryptoRecord(Self.key(of: user), value: Data(last.bytes))
    }

    mutating func end(_ user: ExactText) -> CryptoRecord.Key {
        users[user] = nil
        return Self.key(of: user)
    }

    private static func key(of user: ExactText) -> CryptoRecord.Key {
        CryptoRecord.Key(.pendingConfirmation, owner: user)
    }
}

extension CryptoMachine {
    /// Compares the next part of the marked sessions of users whose lists have changed with those.
    func confirmSessions(_ state: inout State, _ change: inout CryptoChange, at now: Date) async throws {
        var left = UnconfirmedSessions.partSize
        while left > 0, let (user, last) = state.confirmations.next {
            let part = try await UnconfirmedSessions.confirm(
                sessionsOf: user, after: last, limit: left, in: storage, key: key, at: now)
            // A session that devices of several users claim is changed once in a change: the next user's part reads it
            // from the storage.
            guard Set(change.put.map(\.key)).isDisjoint(with: part.change.put.map(\.key)) else { return }
            change.merge(part.change)
            left -= part.compared.count
            if left == 0, let last = part.compared.last {
                change.put.append(state.confirmations.proceed(user, to: last))
            } else {
                change.removed.insert(state.confirmations.end(user))
            }
        }
    }
}
