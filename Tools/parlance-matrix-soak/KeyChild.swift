import ChatCore
import Foundation
import MatrixBackend
import ToolSupport

/// A user's application without its window, which is killed while it exchanges keys.
///
/// After `begin URL SLIDING USER DEVICE TOKEN [DEATH]` it prints `ready`. Then it accepts commands: `identity` creates
/// an identity unless there is a complete one, prints `key` and the recovery key if it has created one, and `identity`;
/// `say ROOM TEXT` prints `queued TEXT` and, once the sync has returned the message, `said TEXT`; `wait ROOM TEXT`
/// waits for a message that is already queued; `read ROOM TEXT…` prints `missing TEXT` for every text that cannot be
/// read after a while, and `read`; `backed` prints `backed` once its status says that all keys are in the backup; `end
/// ROOM EVENT…` prints `text EVENT TEXT` or `unread EVENT REASON` for every message, after a while if some EVENT cannot
/// be read, and `done`. For each message sent it prints `sealed SESSION INDEX DIGEST`.
struct KeyChild {
    let folder: String

    func run() async throws {
        guard let words = readLine()?.split(separator: " ").map(String.init), words.count >= 6, words[0] == "begin",
            let url = URL(string: words[1])
        else { throw SoakFailure("not told to begin") }
        let session = MatrixSession(user: MemberID(words[3]), device: words[4], token: AccessToken(words[5]))
        let death = DyingTransport.Death(Array(words.dropFirst(6)))
        let user = try await KeyUser(
            session, url: url, isSliding: words[2] == "1", folder: URL(fileURLWithPath: folder, isDirectory: true),
            death: death
        ) { ParentPipe.send("sealed \($0.words)") }
        ParentPipe.send("ready")
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "identity": try await makeIdentity(user)
            case "say", "wait":
                let (room, text) = (RoomID(words[1]), words[2])
                if words[0] == "say" {
                    try await user.queue(text, in: room)
                    ParentPipe.send("queued \(text)")
                }
                try await user.sent(text, in: room)
                ParentPipe.send("said \(text)")
            case "read":
                for text in try await user.missing(Set(words.dropFirst(2)), in: RoomID(words[1])) {
                    ParentPipe.send("missing \(text)")
                }
                ParentPipe.send("read")
            case "backed":
                try await user.status { $0.backup == .on(remaining: 0) }
                ParentPipe.send("backed")
            case "end":
                let events = Set(words.dropFirst(2))
                for (event, reading) in try await user.readings(in: RoomID(words[1]), of: events) {
                    switch reading {
                    case .text(let text): ParentPipe.send("text \(event) \(text)")
                    case .sealed(let reason): ParentPipe.send("unread \(event) \(reason)")
                    }
                }
                ParentPipe.send("done")
            default: throw SoakFailure("told “\(line)”")
            }
        }
        await user.close()
    }

    private func makeIdentity(_ user: KeyUser) async throws {
        let status = try await user.status { $0.identity != .unknown && $0.recovery != .unknown }
        // Acts like a user who was interrupted and follows what the window offers. The run notices if that replaces an
        // identity.
        switch status.identity {
        case .confirmed:
            if status.recovery != .ready {
                ParentPipe.send("key \(try await user.backend.replaceRecoveryKey().text)")
            }
        default: ParentPipe.send("key \(try await user.backend.createIdentity(password: "password").text)")
        }
        try await user.backend.confirmRecoveryKey()
        try await user.status {
            $0.identity == .confirmed && $0.recovery == .ready && $0.backup == .on(remaining: 0)
        }
        ParentPipe.send("identity")
    }
}
