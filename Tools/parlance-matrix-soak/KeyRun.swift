import ChatCore
import ChatStore
import Foundation
import MatrixBackend
import MatrixCrypto
import ToolSupport

/// Users in an encrypted room, some of whom are killed while exchanging keys, as is the server. No message stays
/// unreadable that another device can read, no key is missing from the backup, no identity is replaced, and no session
/// index is used for two messages.
struct KeyRun {
    /// The number of messages after which the key is rotated.
    private static let rotation = 3

    let kills: Int
    let serverKills: Int
    /// The folder of the homeserver.
    let folder: String
    let seed: UInt64
    /// Whether a key is removed from the backup at the end. The run fails unless it finds exactly that one missing.
    var plantsLoss = false

    /// The setup of the whole run.
    private struct Scene {
        let server: SoakHomeserver
        let folder: URL
        let room: String
        /// A room whose sessions last long, so that processes end between their indices.
        let steadyRoom: String
        let bob: KeyUser
        let bobSession: MatrixSession
        /// Another device of the user who is killed. It uploads nothing to the backup, where its keys would hide that
        /// those of the killed one are missing.
        let observer: KeyUser
        let indices: UsedIndices
        let losses = KeyLosses()
    }

    func run() async throws -> Bool {
        print("\(kills) kills, \(serverKills) kills of the server, seed \(seed)")
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("parlance-keys-\(UUID().uuidString)", isDirectory: true)
        let server = try SoakHomeserver.start(in: self.folder, isNew: true)
        var random = SeededGenerator(seed: seed)
        let indices = UsedIndices()
        var ann = KeyProcess(
            try await server.register("ann"), isSliding: true, folder: folder.appendingPathComponent("ann"),
            url: server.url, indices: indices)
        ann = try await Self.onThread(ann) { ann in
            guard try ann.start(), try ann.ask("identity", until: "identity") else { throw SoakFailure("no identity") }
        }
        guard let key = ann.recoveryKey else { throw SoakFailure("no recovery key") }
        let (bob, bobSession) = try await member("bob", server, folder, indices)
        let room = try await server.makeRoom(of: ann.session, with: bobSession)
        try await server.encrypt(room, after: Self.rotation, as: ann.session)
        let steadyRoom = try await server.makeRoom(of: ann.session, with: bobSession)
        try await server.encrypt(steadyRoom, after: 100, as: ann.session)
        let observer = try await device(of: "ann", isSliding: false, uploadsBackup: false, server, folder, indices)
        try await observer.backend.recover(with: key)
        try await observer.status { $0.identity == .confirmed }
        let scene = Scene(
            server: server, folder: folder, room: room, steadyRoom: steadyRoom, bob: bob, bobSession: bobSession,
            observer: observer, indices: indices)
        _ = try await Self.onThread(ann) { _ = try $0.end(after: 0) }

        let died = try await killUsers(&ann, scene, &random)
        try await killServer(&ann, scene, &random)
        let isFine = try await compare(&ann, key, died, scene)
        await bob.close()
        await observer.close()
        try server.stop(removing: folder, if: isFine)
        return isFine
    }

    // MARK: Users

    /// Signs in to an account on one more device, in this process.
    private func device(
        of name: String, isSliding: Bool, uploadsBackup: Bool = true, _ server: SoakHomeserver, _ folder: URL,
        _ indices: UsedIndices
    ) async throws -> KeyUser {
        let session = try await server.signIn(name)
        let place = folder.appendingPathComponent("\(name)-\(session.device)", isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return try await KeyUser(
            session, url: server.url, isSliding: isSliding, folder: place, uploadsBackup: uploadsBackup
        ) { indices.insert($0) }
    }

    /// A new user with an identity, in this process.
    private func member(
        _ name: String, _ server: SoakHomeserver, _ folder: URL, _ indices: UsedIndices
    ) async throws -> (KeyUser, MatrixSession) {
        let session = try await server.register(name)
        let place = folder.appendingPathComponent(name, isDirectory: true)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let user = try await KeyUser(session, url: server.url, isSliding: false, folder: place) { indices.insert($0) }
        _ = try await user.backend.createIdentity(password: "password")
        return (user, session)
    }

    // MARK: Kills

    /// - Returns: The number of processes that died at each moment.
    private func killUsers(
        _ ann: inout KeyProcess, _ scene: Scene, _ random: inout SeededGenerator
    ) async throws -> [DyingTransport.Moment: Int] {
        var died: [DyingTransport.Moment: Int] = [:]
        let moments = DyingTransport.Moment.allCases
        for number in 0..<kills {
            let moment = moments[number % moments.count]
            let death = DyingTransport.Death(
                moment: moment, phase: DyingTransport.Phase.allCases.randomElement(using: &random) ?? .asking,
                number: moment == .bootstrap ? .random(in: 1...6, using: &random) : 1,
                delay: .random(in: 0...30_000, using: &random))
            // Not every message has a new key, which the backup needs.
            for attempt in 0..<4 {
                let name = "\(number)-\(attempt)"
                let hasDied =
                    switch moment {
                    case .upload, .bootstrap: try await killNewUser("dan\(name)", death, scene)
                    case .claim: try await killWithNewMember(&ann, "carl\(name)", death, scene)
                    case .toDevice, .share, .backup: try await kill(&ann, name, death, scene)
                    }
                guard hasDied else { continue }
                died[moment, default: 0] += 1
                break
            }
        }
        return died
    }

    private func kill(
        _ ann: inout KeyProcess, _ name: String, _ death: DyingTransport.Death, _ scene: Scene
    ) async throws -> Bool {
        let room = RoomID(scene.room)
        try await scene.bob.say("b\(name)", in: room)
        var hasDied = false
        (ann, hasDied) = try await Self.onThread((ann, false)) { pair in
            guard try pair.0.start(death), try pair.0.say("s\(name)", in: scene.steadyRoom),
                try pair.0.say("a\(name)", in: scene.room)
            else {
                pair.1 = true
                return
            }
            pair.1 = try pair.0.end(after: 3)
        }
        // Queued messages are sent, and the others are written now.
        ann = try await Self.onThread(ann) { ann in
            guard try ann.start(), try ann.say("s\(name)", in: scene.steadyRoom),
                try ann.say("a\(name)", in: scene.room), try ann.say("t\(name)", in: scene.steadyRoom),
                try ann.say("u\(name)", in: scene.steadyRoom)
            else { throw SoakFailure("it dies again") }
            _ = try ann.end(after: 0)
        }
        return hasDied
    }

    private func killWithNewMember(
        _ ann: inout KeyProcess, _ name: String, _ death: DyingTransport.Death, _ scene: Scene
    ) async throws -> Bool {
        let (user, session) = try await member(name, scene.server, scene.folder, scene.indices)
        try await scene.server.add(session, to: scene.room, by: scene.bobSession)
        let hasDied = try await kill(&ann, name, death, scene)
        // Ann encrypts only once her sync has caught up, so she knows of the new member.
        let missing = try await user.missing(["a\(name)"], in: RoomID(scene.room))
        scene.losses.note(missing, of: name)
        try await user.say("c\(name)", in: RoomID(scene.room))
        await user.close()
        try await scene.server.leave(scene.room, as: session)
        return hasDied
    }

    /// Kills a user at the first start, or during the creation of the identity, then repeats it without a kill, and
    /// looks at what the user has lost.
    private func killNewUser(_ name: String, _ death: DyingTransport.Death, _ scene: Scene) async throws -> Bool {
        let session = try await scene.server.register(name)
        let dan = KeyProcess(
            session, isSliding: Bool.random(), folder: scene.folder.appendingPathComponent(name), url: scene.server.url,
            indices: scene.indices)
        var (user, hasDied) = try await Self.onThread((dan, false)) { pair in
            guard try pair.0.start(death), try pair.0.ask("identity", until: "identity") else {
                pair.1 = true
                return
            }
            pair.1 = try pair.0.end(after: 1)
        }
        let identity = try await scene.server.masterKey(of: session)
        user = try await Self.onThread(user) { user in
            guard try user.start(), try user.ask("identity", until: "identity") else {
                throw SoakFailure("\(name) has no identity")
            }
        }
        if let identity, try await scene.server.masterKey(of: session) != identity {
            scene.losses.note("\(name) has replaced the identity")
        }
        try await scene.server.add(session, to: scene.room, by: scene.bobSession)
        user = try await Self.onThread(user) { user in
            guard try user.say("d\(name)", in: scene.room) else { throw SoakFailure("\(name) dies again") }
        }
        try await answer(user, name, scene)
        try await scene.server.leave(scene.room, as: session)
        return hasDied
    }

    /// Has a new user read an answer, back up the keys, and restore them on another device by the recovery key.
    private func answer(_ user: KeyProcess, _ name: String, _ scene: Scene) async throws {
        let room = RoomID(scene.room)
        // The message follows the new member in the sync, so that the answer is for that member, too.
        scene.losses.note(try await scene.bob.missing(["d\(name)"], in: room), of: "bob")
        try await scene.bob.say("e\(name)", in: room)
        let texts: Set<String> = ["d\(name)", "e\(name)"]
        let user = try await Self.onThread(user) { _ = try $0.end(after: 0) }
        let backedUp = try await backUp(user) { user in
            let question = "read \(scene.room) \(texts.sorted().joined(separator: " "))"
            guard try user.ask(question, until: "read") else { throw SoakFailure("\(name) dies again") }
        }
        scene.losses.note(backedUp.missing, of: name)
        guard let key = backedUp.recoveryKey else { return scene.losses.note("the recovery key of \(name)") }
        let restored = try await device(of: name, isSliding: false, scene.server, scene.folder, scene.indices)
        do {
            try await restored.backend.recover(with: key)
            scene.losses.note(try await restored.missing(texts, in: room), of: "another device of \(name)")
        } catch let error as EncryptionError {
            scene.losses.note("the recovery key of \(name): \(error)")
        }
        await restored.close()
    }

    /// Runs a user's process until all keys that it has stored are in the backup. Its own status may be older than a
    /// key that has just arrived.
    /// - Parameter work: What the process does before.
    private func backUp(
        _ user: KeyProcess, _ work: @escaping @Sendable (inout KeyProcess) throws -> Void
    ) async throws -> KeyProcess {
        var user = user
        for _ in 0..<10 {
            user = try await Self.onThread(user) { user in
                guard try user.start() else { throw SoakFailure("\(user.session.user) dies") }
                try work(&user)
                guard try user.ask("backed", until: "backed") else { throw SoakFailure("\(user.session.user) dies") }
                _ = try user.end(after: 0)
            }
            let place = user.folder.appendingPathComponent("store", isDirectory: true)
            let keys = try KeyStore(folder: place, isNew: false)
            let remaining = try await CryptoMachine.remainingInBackup(in: keys)
            try await keys.close()
            if remaining == 0 { return user }
        }
        throw SoakFailure("\(user.session.user) does not back up all keys")
    }

    private func killServer(
        _ ann: inout KeyProcess, _ scene: Scene, _ random: inout SeededGenerator
    ) async throws {
        ann = try await Self.onThread(ann) { guard try $0.start() else { throw SoakFailure("ann dies") } }
        for number in 0..<serverKills {
            let delay = UInt32.random(in: 0...400_000, using: &random)
            async let said: Void = scene.bob.say("sb\(number)", in: RoomID(scene.room))
            async let killed: Void = Self.onThread(()) { _ in
                usleep(delay)
                try scene.server.killAndStart()
            }
            ann = try await Self.onThread(ann) { ann in
                guard try ann.say("sa\(number)", in: scene.room) else { throw SoakFailure("ann dies") }
            }
            _ = try await (said, killed)
        }
        ann = try await Self.onThread(ann) { _ = try $0.end(after: 0) }
    }

    // MARK: Outcome

    private func compare(
        _ ann: inout KeyProcess, _ key: String, _ died: [DyingTransport.Moment: Int], _ scene: Scene
    ) async throws -> Bool {
        var sealed: [String: [String: SealedIndex]] = [:]
        for room in [scene.room, scene.steadyRoom] {
            sealed[room] = try await scene.server.sealedMessages(in: room, as: scene.bobSession)
        }
        let messages = sealed.values.flatMap(\.values)
        for message in messages { scene.indices.insert(message) }
        // Also catches two events with the same ciphertext, which `UsedIndices` counts as one message.
        let doubled = messages.count - Set(messages.map { "\($0.session) \($0.index)" }).count
        ann = try await backUp(ann) { [sealed] ann in
            for (room, events) in sealed {
                guard try ann.ask("end \(room) \(events.keys.joined(separator: " "))", until: "done") else {
                    throw SoakFailure("ann dies")
                }
            }
        }
        let planted = plantsLoss ? try await plant(sealed[scene.room] ?? [:], ann.session, scene) : 0
        let unread = try await unread(sealed, ann, key, scene)
        let total = died.values.reduce(0, +)
        print(
            "\(messages.count) messages, \(scene.indices.count) indices, \(scene.indices.skipped) skipped; \(total) kills at their moment:",
            died.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ") + ";",
            "\(serverKills) kills of the server")
        let lost = unread["the backup", default: 0] + scene.losses.count
        let unreadable = unread.filter { $0.key != "the backup" }.values.reduce(0, +)
        let reused = scene.indices.reused + doubled
        SoakReport(name: "keys-kills", value: total, unit: "kills", target: kills).print()
        SoakReport(name: "keys-lost", value: lost, unit: "keys", target: planted).print()
        SoakReport(name: "keys-reused", value: reused, unit: "indices", target: 0).print()
        SoakReport(name: "keys-unreadable", value: unreadable, unit: "messages", target: 0).print()
        return total == kills && lost == planted && reused == 0 && unreadable == 0
    }

    /// Removes the key of some messages from a user's backup.
    /// - Returns: The number of these messages.
    private func plant(
        _ sealed: [String: SealedIndex], _ user: MatrixSession, _ scene: Scene
    ) async throws -> Int {
        guard let session = sealed.values.map(\.session).min() else { throw SoakFailure("no message to lose") }
        try await scene.server.removeFromBackup(session, of: scene.room, as: user)
        print("planted: the backup does not have the key of session \(session)")
        return sealed.values.count { $0.session == session }
    }

    /// Compares what each reader has of the messages, among them a new device that has restored the backup.
    /// - Returns: The number of messages that a reader cannot read, by reader.
    private func unread(
        _ sealed: [String: [String: SealedIndex]], _ ann: KeyProcess, _ key: String, _ scene: Scene
    ) async throws -> [String: Int] {
        let restored = try await device(of: "ann", isSliding: true, scene.server, scene.folder, scene.indices)
        try await restored.backend.recover(with: key)
        try await restored.status { $0.backup == .on(remaining: 0) && !$0.isRestoring }
        var unread: [String: Int] = [:]
        for (room, events) in sealed {
            let (id, events) = (RoomID(room), Set(events.keys))
            await restored.untilRoom(id)
            let views = [
                ("bob", try await scene.bob.readings(in: id, of: events)),
                ("her other device", try await scene.observer.readings(in: id, of: events)),
                ("the backup", try await restored.readings(in: id, of: events)), ("ann", ann.readings),
            ]
            for id in events where !views.allSatisfy({ $0.1[id]?.isText == true }) {
                for (name, readings) in views where readings[id]?.isText != true { unread[name, default: 0] += 1 }
                print(id, views.map { "\($0.0): \($0.1[id].map { "\($0)" } ?? "missing")" }.joined(separator: ", "))
            }
        }
        await restored.close()
        return unread
    }

    /// Runs blocking work on a thread.
    private static func onThread<T: Sendable>(
        _ value: T, _ work: @escaping @Sendable (inout T) throws -> Void
    ) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        var value = value
                        try work(&value)
                        return value
                    })
            }
        }
    }
}
