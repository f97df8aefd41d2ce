import Foundation
import Glibc
import ToolSupport

// Writing to a closed pipe or connection must fail with an error instead of `SIGPIPE`.
signal(SIGPIPE, SIG_IGN)
// Disable Swift's backtraces: the line of the crash suffices.
setenv("SWIFT_BACKTRACE", "enable=no", 1)

let usage = """
    Usage: parlance-matrix-soak talk [--messages N] [--client-kills N] [--server-kills N] [--faults N] [--seed N]
                                     [--data DIR]
           parlance-matrix-soak requests [--count N] [--minutes N]
           parlance-matrix-soak unread [--count N] [--seed N]
           parlance-matrix-soak keys [--client-kills N] [--server-kills N] [--seed N] [--data DIR] [--plant]
           parlance-matrix-soak bench [--data DIR]
           parlance-matrix-soak encryption [cipher|room|sharing|restore|start]...

    talk      from the project's folder: two users, each a process of its own, send N messages (10000) over a real
              Synapse with its data in DIR (.build/synapse/soak), through a proxy that cuts, delays, swallows and refuses
              (2000 times at least); the processes are killed (50 times), and so is the server (100 times). Each
              message arrives once and in order, and both users keep what the server has
    requests  sends N requests (10000) by one transport, then long polls for some minutes (0), and tells what memory and
              open files are left
    unread    tells N sequences (100000) of push rules, rooms, messages, deletions and read marks in syncs: the counts of
              unread messages and mentions are those of a count of all by the rules as the specification has them
    keys      from the project's folder: users in an encrypted room over a real Synapse with its data in DIR
              (.build/synapse/keys), whose processes are killed (150 times) while they take messages to the device,
              upload, claim, share and back up keys, or make an identity, and so is the server (50 times): no key is
              lost, no index of a session used twice, and no message unreadable that another device reads. With --plant
              a key is removed from the backup on purpose, and exit status 0 says that just this one was missed
    bench     from the project's folder: time, requests and bytes from a start to a list of rooms, with 40 and with 400
              rooms, and a room with 10,000 messages, over a real Synapse whose data stays in DIR (.build/synapse/bench)
    encryption  what encryption costs: reading, writing, opening, sharing and restoring, over a server in memory

    Exit status 1 if anything was lost, doubled, out of order or otherwise than at the server, or a target is missed.
    """

var options: [String: UInt64] = [:]
var data: String?
var plantsLoss = false
var rest = CommandLine.arguments.dropFirst()
let mode = rest.popFirst()

do {
    if mode == "child" {
        try await TalkChild(folder: rest.popFirst() ?? "").run()
        exit(0)
    }
    if mode == "key-child" {
        try await KeyChild(folder: rest.popFirst() ?? "").run()
        exit(0)
    }
    if mode == "bench-child" {
        try await BenchChild(words: Array(rest)).run()
        exit(0)
    }
    if mode == "encryption-child" {
        try await KeyStartBench.runChild(in: rest.popFirst() ?? "")
        exit(0)
    }
    if mode == "encryption" {
        let sections = rest.compactMap(EncryptionBench.Section.init)
        guard sections.count == rest.count else { throw SoakFailure("not understood: \(rest)\n\(usage)") }
        exit(
            try await EncryptionBench(sections: sections.isEmpty ? EncryptionBench.Section.allCases : sections).run()
                ? 0 : 1)
    }
    while let option = rest.popFirst() {
        if option == "--data", let path = rest.popFirst() {
            data = path
            continue
        }
        if option == "--plant", mode == "keys" {
            plantsLoss = true
            continue
        }
        let knownOptions = [
            "--count", "--minutes", "--messages", "--client-kills", "--server-kills", "--faults", "--seed",
        ]
        guard knownOptions.contains(option), let number = rest.popFirst().flatMap(UInt64.init) else {
            throw SoakFailure("not understood: \(option)\n\(usage)")
        }
        options[option] = number
    }
    func number(_ name: String, _ standard: Int) -> Int { options[name].map { Int(clamping: $0) } ?? standard }
    var isFine = true
    switch mode {
    case "talk":
        isFine = try await TalkRun(
            count: number("--messages", 10_000), kills: number("--client-kills", 50),
            serverKills: number("--server-kills", 100), faults: number("--faults", 2000),
            folder: data ?? ".build/synapse/soak", seed: options["--seed"] ?? .random(in: 1...999_999)
        ).run()
    case "keys":
        isFine = try await KeyRun(
            kills: number("--client-kills", 150), serverKills: number("--server-kills", 50),
            folder: data ?? ".build/synapse/keys", seed: options["--seed"] ?? .random(in: 1...999_999),
            plantsLoss: plantsLoss
        ).run()
    case "requests":
        isFine = try await RequestRun(count: number("--count", 10_000), minutes: number("--minutes", 0)).run()
    case "unread":
        isFine = try await RuleRun(
            count: number("--count", 100_000), seed: options["--seed"] ?? .random(in: 1...999_999)
        ).run()
    case "bench": isFine = try await MatrixBench(folder: data ?? ".build/synapse/bench").run()
    default: print(usage)
    }
    exit(isFine ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("parlance-matrix-soak: \(error)\n".utf8))
    exit(1)
}
