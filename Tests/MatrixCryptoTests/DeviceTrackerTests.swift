import ChatCore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Ratchets
import Testing
import ToolSupport

@Suite(.enabled(if: EncryptionSetting.isOn)) struct DeviceTrackerTests {
    private let start = Date(timeIntervalSince1970: 1_000_000)

    private func answer(_ devices: [TestDevice], failures: [String] = []) throws -> JSONValue {
        var users: [String: [String: JSONValue]] = [:]
        for device in devices { users[device.user.text, default: [:]][device.device.text] = try device.json() }
        return [
            "device_keys": .object(users.mapValues { .object($0) }),
            "failures": .object(Dictionary(failures.map { ($0, [:]) }) { $1 }),
        ]
    }

    @Test func aTrackedUserIsAskedAboutOnce() throws {
        var tracker = DeviceTracker()
        #expect(tracker.nextQuery(at: start) == nil)
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        #expect(query.users == ["@a:b"])
        #expect(tracker.nextQuery(at: start) == nil)
        let device = try TestDevice("@a:b", "D")
        let changes = tracker.apply(try answer([device]), to: query, known: [:], at: start)
        #expect(changes.map(\.added) == [["D"]] && changes[0].removed.isEmpty && changes[0].rejected.isEmpty)
        #expect(tracker.isOutdated("@a:b") == false)
        #expect(tracker.nextQuery(at: start) == nil)
        tracker.track(["@a:b"])
        #expect(tracker.nextQuery(at: start) == nil)
    }

    @Test func aChangeWhileAQuestionIsUnderWayIsAskedAboutAgain() throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:b", "@c:b"])
        let query = try tracker.query(at: start)
        tracker.received(changed: ["@a:b", "@stranger:b"], left: [])
        #expect(tracker.nextQuery(at: start) == nil, "no user is in two questions")
        #expect(tracker.apply(try answer([]), to: query, known: [:], at: start).count == 2)
        #expect(tracker.isOutdated("@a:b") == true && tracker.isOutdated("@c:b") == false)
        #expect(tracker.nextQuery(at: start)?.users == ["@a:b"])
        #expect(!tracker.isTracked("@stranger:b"))
    }

    @Test func whoLeftIsForgottenAlsoByAnAnswerThatComesLater() throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        tracker.received(changed: [], left: ["@a:b"])
        #expect(tracker.apply(try answer([TestDevice("@a:b", "D")]), to: query, known: [:], at: start).isEmpty)
        #expect(!tracker.isTracked("@a:b"))
    }

    @Test func questionsAreBounded() throws {
        var tracker = DeviceTracker()
        tracker.track((0..<600).map { ExactText("@u\($0):b") })
        let queries = [tracker.nextQuery(at: start), tracker.nextQuery(at: start), tracker.nextQuery(at: start)]
        #expect(queries.map { $0?.users.count } == [250, 250, 100])
        let users: [ExactText] = queries.flatMap { $0?.users ?? [] }
        #expect(Set(users).count == 600)
        #expect(tracker.nextQuery(at: start) == nil)
        tracker.failed(try #require(queries[1]))
        #expect(tracker.nextQuery(at: start)?.users == queries[1]?.users)
    }

    @Test("Users whose IDs look the same are queried separately, and each has their own devices")
    func similarUsers() throws {
        let users: [ExactText] = ["@\u{E9}:b", "@e\u{301}:b"]
        let devices = try users.map { try TestDevice($0, "D") }
        let known = try devices.map { try DeviceKeys($0.json(), of: $0.user, device: "D") }
        var tracker = DeviceTracker()
        tracker.track(users + ["@a:b"])
        let queries = try [tracker.query(at: start), tracker.query(at: start)]
        #expect(tracker.nextQuery(at: start) == nil)
        #expect(queries.map(\.users.count) == [2, 1] && Set(queries.flatMap(\.users)) == Set(users + ["@a:b"]))
        for query in queries {
            let answered = devices.filter { query.users.contains($0.user) }
            let changes = tracker.apply(
                try answer(answered), to: query,
                known: Dictionary(uniqueKeysWithValues: known.map { ($0.user, [$0]) }), at: start)
            let change = try #require(changes.first { users.contains($0.user) })
            #expect(change.devices["D"]?.user == change.user && change.rejected.isEmpty && change.removed.isEmpty)
        }
        #expect(users.allSatisfy { tracker.isOutdated($0) == false })
    }

    // MARK: Rejected queries

    /// Makes all queries that are due, of a server that rejects some.
    private func queries(
        of tracker: inout DeviceTracker, at now: Date, rejecting isRejected: (Set<ExactText>) -> Bool
    ) throws -> [DeviceTracker.Query] {
        var queries: [DeviceTracker.Query] = []
        while queries.count < 1_000, let query = tracker.nextQuery(at: now) {
            queries.append(query)
            if isRejected(Set(query.users)) {
                tracker.rejected(query, at: now)
            } else {
                _ = tracker.apply(try answer([]), to: query, known: [:], at: now)
            }
        }
        return queries
    }

    private func named(_ count: Int) -> [ExactText] { (0..<count).map { ExactText("@u\($0):b") } }

    @Test("A rejected query is halved until the user who causes it is alone, and all others are answered")
    func oneRejectedUser() throws {
        let users = named(600)
        for rejected in [0, 99, 100, 249, 250, 599].map({ users[$0] }) {
            var tracker = DeviceTracker()
            tracker.track(users)
            let all = try queries(of: &tracker, at: start) { $0.contains(rejected) }
            #expect(all.count <= 3 + 16 && all.count { $0.users == [rejected] } == 1)
            #expect(users.filter { tracker.isOutdated($0) == true } == [rejected])
            // Messages do not wait for the user either.
            #expect(users.filter { tracker.holdsUp($0) }.isEmpty)
        }
    }

    @Test("A user whose query is rejected is queried again after growing delays, and with others after a response")
    func rejectedAgain() throws {
        let users = named(250)
        var tracker = DeviceTracker()
        tracker.track(users)
        _ = try queries(of: &tracker, at: start) { $0.contains("@u7:b") }
        var (now, waits): (Date, [TimeInterval]) = (start, [])
        for _ in 0..<12 {
            let next = try #require(tracker.nextAttempt(after: now))
            waits.append(next.timeIntervalSince(now))
            now = next
            let again = try queries(of: &tracker, at: now) { _ in true }
            #expect(again.map(\.users) == [["@u7:b"]] && !tracker.holdsUp("@u7:b"))
        }
        #expect(waits.first == 15 && waits.last == 3600 && waits == waits.sorted())
        now += 3600
        let last = try queries(of: &tracker, at: now) { _ in false }
        #expect(last.count == 1)
        #expect(tracker.isOutdated("@u7:b") == false && tracker.nextAttempt(after: now) == nil)
        tracker.received(changed: users, left: [])
        #expect(tracker.holdsUp("@u7:b") && tracker.nextQuery(at: now)?.users.count == 250)
    }

    @Test("Queries of which only large ones are rejected delay nobody, and an outage halves none")
    func rejectedSizes() throws {
        let users = named(250)
        var tracker = DeviceTracker()
        tracker.track(users)
        let first = try tracker.query(at: start)
        tracker.failed(first)
        let again = try tracker.query(at: start)
        #expect(again == first)
        tracker.failed(again)
        let all = try queries(of: &tracker, at: start) { $0.count > 50 }
        #expect(all.count == 15)
        #expect(users.allSatisfy { tracker.isOutdated($0) == false } && tracker.nextAttempt(after: start) == nil)
    }

    @Test("If every query is rejected, their number is bounded") func allRejected() throws {
        let users = named(250)
        var tracker = DeviceTracker()
        tracker.track(users)
        let all = try queries(of: &tracker, at: start) { _ in true }
        #expect(all.count < 2 * users.count)
        #expect(users.allSatisfy { !tracker.holdsUp($0) && tracker.isOutdated($0) == true })
        // A user who leaves and comes back starts anew, as far as the size is concerned.
        tracker.received(changed: [], left: users)
        tracker.track(users)
        #expect(tracker.nextQuery(at: start + 15)?.users.count == 250)
    }

    @Test("A response to a query from before a user left and came back does not make their list current")
    func returningUser() throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        tracker.received(changed: [], left: ["@a:b"])
        tracker.track(["@a:b"])
        _ = tracker.apply(try answer([TestDevice("@a:b", "D")]), to: query, known: [:], at: start)
        #expect(tracker.isOutdated("@a:b") == true && tracker.nextQuery(at: start)?.users == ["@a:b"])
    }

    @Test func aServerThatIsAwayHoldsUpItsUsersAlone() throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:away", "@b:here"])
        var (now, waits): (Date, [TimeInterval]) = (start, [])
        for _ in 0..<12 {
            let query = try tracker.query(at: now)
            let changes = tracker.apply(try answer([], failures: ["away"]), to: query, known: [:], at: now)
            #expect(changes.allSatisfy { $0.user == "@b:here" })
            #expect(tracker.isOutdated("@a:away") == true && tracker.isOutdated("@b:here") == false)
            #expect(tracker.nextQuery(at: now) == nil)
            let next = try #require(tracker.nextAttempt(after: now))
            waits.append(next.timeIntervalSince(now))
            now = next
        }
        #expect(waits.first == 15 && waits.last == 3600 && waits == waits.sorted())
        // A change does not shorten the delay, and other users are queried meanwhile.
        tracker.received(changed: ["@a:away", "@b:here"], left: [])
        let query = try tracker.query(at: now)
        _ = tracker.apply(try answer([]), to: query, known: [:], at: now)
        #expect(tracker.isOutdated("@a:away") == false && tracker.nextAttempt(after: now) == nil)
    }

    @Test(arguments: [
        JSONValue.null, [], [:], ["device_keys": 5], ["device_keys": ["@a:b": 5]], ["device_keys": ["@a:b": "x"]],
        ["device_keys": ["@a:b": .null]], ["device_keys": [:], "failures": 5],
    ])
    func anAnswerThatIsNoneChangesNothing(answer: JSONValue) throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        let known = [try DeviceKeys(TestDevice("@a:b", "D").json(), of: "@a:b", device: "D")]
        #expect(tracker.apply(answer, to: query, known: ["@a:b": known], at: start).isEmpty)
        #expect(tracker.isOutdated("@a:b") == true)
        #expect(tracker.nextQuery(at: start) == nil && tracker.nextQuery(at: start + 15) != nil)
    }

    @Test func keysOfAKnownDeviceNeverChange() throws {
        let (device, other) = (try TestDevice("@a:b", "D"), try TestDevice("@a:b", "D"))
        let known = try DeviceKeys(device.json(), of: "@a:b", device: "D")
        let change = try list([other], known: [known])
        let kept = try #require(change.devices["D"])
        #expect(change.devices.count == 1 && kept.hasKeys(of: known) && kept.isDisputed)
        #expect(change.rejected == ["D": .changedKeys] && change.added.isEmpty && change.removed.isEmpty)
        #expect(change.changed == ["D"])
        // Until the server returns its own keys again.
        let again = try list([device], known: [kept])
        #expect(again.devices == ["D": known] && again.changed == ["D"] && again.rejected.isEmpty)
        #expect(try list([], known: [known]).removed == ["D"])
    }

    @Test func twoDevicesWithOneKeyAreRefused() throws {
        // One account that signs for two devices.
        let device = try TestDevice("@a:b", "D")
        let copy = TestDevice("@a:b", "C", account: device.account)
        let known = try DeviceKeys(device.json(), of: "@a:b", device: "D")
        let change = try list([device, copy], known: [known])
        #expect(Set(change.devices.keys) == ["D"] && change.rejected == ["C": .sharedKey])
        #expect(try list([device, copy], known: []).devices.count == 1)
    }

    @Test func aDeviceThatCannotBeReadStaysAsItWas() throws {
        let device = try TestDevice("@a:b", "D")
        let known = try DeviceKeys(device.json(), of: "@a:b", device: "D")
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        let answer: JSONValue = ["device_keys": ["@a:b": ["D": ["keys": 5], "E": .null]]]
        let change = try tracker.only(answer, to: query, known: ["@a:b": [known]], at: start)
        let kept = try #require(change.devices["D"])
        #expect(change.devices.count == 1 && kept.hasKeys(of: known) && kept.isDisputed)
        #expect(change.rejected == ["D": .unreadable(.malformed), "E": .unreadable(.malformed)])
    }

    @Test func devicesAreBounded() throws {
        let one = try TestDevice("@a:b", "D").json()
        let known = try DeviceKeys(one, of: "@a:b", device: "D")
        var devices: [String: JSONValue] = ["D": one]
        for number in 0..<100_000 { devices["A\(number)"] = .integer(1) }
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        let answer: JSONValue = ["device_keys": ["@a:b": .object(devices)]]
        let change = try tracker.only(answer, to: query, known: ["@a:b": [known]], at: start)
        #expect(change.devices == ["D": known])
    }

    @Test("Of more valid devices of a user than are stored, the known one stays, and the last ones are rejected")
    func validDevicesAreBounded() throws {
        let device = try TestDevice("@a:b", "D")
        let known = try DeviceKeys(device.json(), of: "@a:b", device: "D")
        let others = try (1_000...2_000).map { number -> TestDevice in
            // No identity is in the response, so the signature of one would only cost time.
            var other = try TestDevice("@a:b", ExactText("A\(number)"))
            other.isConfirmed = false
            return other
        }
        let change = try list(others + [device], known: [known])
        #expect(DeviceListChange.maxDevices == 1_000 && change.devices.count == 1_000)
        #expect(change.devices["D"] == known)
        #expect(change.rejected == ["A1999": .tooMany, "A2000": .tooMany])
        #expect(change.added.count == 999 && change.changed.isEmpty && change.removed.isEmpty)
    }

    @Test("Of more devices with wrong signatures than are stored, the last are not checked, and the known one stays")
    func wrongSignaturesAreBounded() throws {
        let (device, other) = (try TestDevice("@a:b", "Z"), try TestDevice("@a:b", "0"))
        let known = try DeviceKeys(device.json(), of: "@a:b", device: "Z")
        let account = device.account
        let signature = try account.sign([])
        var devices: [String: JSONValue] = ["Z": try device.json(), "0": try other.json()]
        for number in 1_000..<4_000 {
            let id = "A\(number)"
            devices[id] = [
                "user_id": "@a:b", "device_id": .string(id), "algorithms": ["m.megolm.v1.aes-sha2"],
                "keys": .object([
                    "curve25519:\(id)": .string("\(account.identityKey)"),
                    "ed25519:\(id)": .string("\(account.signingKey)"),
                ]), "signatures": ["@a:b": .object(["ed25519:\(id)": .string("\(signature)")])],
            ]
            // What costs nothing to reject crowds out no device.
            devices["#\(number)"] = ["device_id": .integer(5)]
        }
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        let answer: JSONValue = ["device_keys": ["@a:b": .object(devices)]]
        let change = try tracker.only(answer, to: query, known: ["@a:b": [known]], at: start)
        #expect(change.devices["Z"] == known && Set(change.devices.keys) == ["Z", "0"])
        let reasons = change.rejected.values
        #expect(reasons.count { $0 == .unreadable(.signature) } == DeviceListChange.maxDevices - 1)
        #expect(reasons.count { $0 == .unreadable(.malformed) } == 3_000)
        #expect(reasons.count { $0 == .tooMany } == 2_001)
    }

    @Test func whatIsStoredComesBack() throws {
        var tracker = DeviceTracker()
        tracker.track(["@a:b", "@c:b", "@e:b"])
        let query = try tracker.query(at: start)
        _ = tracker.apply(try answer([]), to: query, known: [:], at: start)
        tracker.received(changed: ["@c:b"], left: ["@e:b"])
        let change = tracker.unsavedChange()
        #expect(change.removed == [CryptoRecord.Key(.trackedUser, owner: "@e:b")])
        // Changed again before the change was stored.
        var other = tracker
        other.track(["@e:b"])
        other.saved(change)
        #expect(other.unsavedChange().put.map(\.key.owner) == ["@e:b"])
        #expect(tracker.unsavedChange().put.count == change.put.count)
        tracker.saved(change)
        #expect(tracker.unsavedChange().isEmpty)
        var restored = DeviceTracker(records: change.put)
        #expect(restored.users == ["@a:b", "@c:b"])
        #expect(restored.isOutdated("@a:b") == false && restored.isOutdated("@c:b") == true)
        restored.invalidateAll()
        #expect(restored.nextQuery(at: start)?.users == ["@a:b", "@c:b"])
        // An unreadable record counts as outdated.
        let odd = CryptoRecord(CryptoRecord.Key(.trackedUser, owner: "@a:b"), value: Data())
        #expect(DeviceTracker(records: [odd]).isOutdated("@a:b") == true)
    }

    private func list(_ devices: [TestDevice], known: [DeviceKeys]) throws -> DeviceListChange {
        var tracker = DeviceTracker()
        tracker.track(["@a:b"])
        let query = try tracker.query(at: start)
        return try tracker.only(answer(devices), to: query, known: ["@a:b": known], at: start)
    }
}

extension DeviceTracker {
    fileprivate mutating func query(at now: Date) throws -> Query {
        let query = nextQuery(at: now)
        return try #require(query)
    }

    fileprivate mutating func only(
        _ answer: JSONValue, to query: Query, known: [ExactText: [DeviceKeys]], at now: Date
    ) throws -> DeviceListChange {
        let changes = apply(answer, to: query, known: known, at: now)
        return try #require(changes.first)
    }
}
