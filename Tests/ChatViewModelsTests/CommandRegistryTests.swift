import ChatCore
import ChatViewModels
import Composer
import Testing

/// Parsing of texts that begin with a slash.
struct CommandRegistryTests {
    private static let everything = CommandRegistry(
        capabilities: [.topic, .displayName, .invite, .join], translator: .untranslated)

    static let texts: [(String, ChatCommand?)] = [
        ("hello", nil), ("", nil), ("/", nil), ("/ me", nil), ("/usr/bin is full", nil), ("/1", nil), (" /me x", nil),
        ("//me x", .message(MessageCommand("/me x"))), ("//", .message(MessageCommand("/"))),
        ("/PLAIN  waves \n twice ", .message(MessageCommand("waves \n twice", syntax: .plain))),
        ("/plain *a* <b>", .message(MessageCommand("*a* <b>", syntax: .plain))),
        ("/plain a\nb", .message(MessageCommand("a\nb", syntax: .plain))),
        ("/spoiler the <end>", .message(.spoiler("the <end>"))),
        ("/me waves", .message(MessageCommand("waves", isEmote: true))),
        ("/shrug", .message(.shrug(""))),
        ("/shrug who", .message(.shrug("who"))),
        ("/topic", .showTopic), ("/topic  tea  ", .setTopic("tea")), ("/nick Ann  Lee", .setDisplayName("Ann Lee")),
        ("/invite @a:b", .invite("@a:b")), ("/join #tea", .join("#tea")), ("/leave", .leave), ("/clear ", .clear),
        ("/rename Tea", .rename("Tea")), ("/remove Ann", .remove("Ann")), ("/help", .help),
    ]

    @Test(arguments: texts)
    func parsesCommands(text: String, command: ChatCommand?) throws {
        #expect(try Self.everything.command(in: text) == command)
    }

    static let problems: [(String, CommandProblem)] = [
        ("/meh", .unknown("meh")), ("/Nope x", .unknown("Nope")), ("/plain", .argumentMissing(usage: "/plain <text>")),
        ("/plain  \n", .argumentMissing(usage: "/plain <text>")), ("/leave now", .argumentUnexpected("leave")),
        ("/nick " + String(repeating: "n", count: 101), .tooLong(limit: 100)),
        ("/topic " + String(repeating: "n", count: 501), .tooLong(limit: 500)),
    ]

    @Test(arguments: problems)
    func malformedCommandsAreRejectedWithAReason(text: String, problem: CommandProblem) {
        #expect(throws: problem) { try Self.everything.command(in: text) }
        #expect(!problem.text(.untranslated).isEmpty && !problem.text(.untranslated).contains("{"))
    }

    /// A command that the backend does not support is neither offered nor accepted.
    @Test func unsupportedCommandsAreNotOffered() {
        let registry = CommandRegistry(capabilities: [], translator: .untranslated)
        #expect(!registry.offered.contains { ["topic", "nick", "invite"].contains($0.name) })
        #expect(throws: CommandProblem.unavailable("nick")) { try registry.command(in: "/nick Ann") }
        #expect(registry.index.entities.map(\.name) == registry.offered.map(\.name))
        #expect(Self.everything.offered.count == Self.everything.definitions.count)
    }

    @Test func hostCommandsTakePrecedence() throws {
        let own = CommandRegistry.Definition("leave", "[why]", help: "x") { .remove($0) }
        let registry = CommandRegistry(capabilities: [], translator: .untranslated, adding: [own])
        #expect(try registry.command(in: "/leave it") == .remove("it"))
        #expect(registry.definitions.count { $0.name == "leave" } == 1)
    }
}
