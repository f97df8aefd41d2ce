import Composer
import Synchronization
import Testing

/// MIB-19, MIB-22: plug-ins that accept pasted or dropped content.
struct InputPlugInTests {
    private static let picture = PasteOffer.media(Attachment(type: "image/png", name: "a.png", bytes: 10))

    /// Type accepted by the tray, paste, plug-ins asked, resulting text, attachments in the composer's own tray.
    static let pastes: [(String, [PasteOffer], [String], String, Int)] = [
        ("image/png", [picture, .text("t")], ["tray image/png"], "", 0),
        ("image/png", [.text("t"), picture], ["tray text", "tray image/png"], "", 0),
        ("text", [.text("t")], ["tray text"], "", 0),
        ("nothing", [.text("t")], ["tray text", "second text"], "t", 0),
        ("nothing", [picture], ["tray image/png", "second image/png"], "", 1),
    ]

    @Test(arguments: pastes)
    func firstAcceptingPlugInEndsTheChain(
        type: String, offers: [PasteOffer], asked: [String], text: String, attached: Int
    ) {
        var script = ComposerScript()
        let log = PlugInLog()
        script.change { engine in
            engine.add(inputPlugIn: FakeTray(name: "tray", acceptedType: type, log: log))
            engine.add(inputPlugIn: FakeTray(name: "second", acceptedType: "nothing", log: log))
            engine.add(inputPlugIn: FakeTray(name: "tray", acceptedType: "text", log: log))
        }
        script.send(.paste(offers))
        #expect(log.lines.filter { !$0.hasSuffix("attached") } == asked)
        #expect(script.text == text && script.state.attachments.count == attached)
        let isPasted = text == "t" || type != "nothing"
        #expect(script.effects.contains(.observed(.pasted)) == isPasted)
    }

    @Test func plugInsFollowTheirLifecycleInOrder() {
        let log = PlugInLog()
        var script = ComposerScript()
        script.change { engine in
            for name in ["a", "b"] { engine.add(inputPlugIn: FakeTray(name: name, acceptedType: "", log: log)) }
            engine.reloadInputPlugIns()
            engine.invalidateInputPlugIns()
            engine.removeInputPlugIn(named: "a")
            engine.removeInputPlugIn(named: "a")
        }
        #expect(
            log.lines == [
                "a attached", "b attached", "a reload", "b reload", "a invalidate", "b invalidate", "a detached",
            ])
        script.send(.paste([.text("t")]))
        #expect(log.lines.suffix(2) == ["a detached", "b text"])
    }

    /// MIB-22: sent content is released, unless sending leaves the composer's content in place.
    @Test(arguments: [true, false])
    func sendingInvalidatesPlugIns(clears: Bool) {
        var configuration = ComposerConfiguration()
        configuration.clearsOnSend = clears
        let log = PlugInLog()
        var script = ComposerScript(configuration)
        script.change { $0.add(inputPlugIn: FakeTray(name: "tray", acceptedType: "", log: log)) }
        script.send(.send)
        #expect(!log.lines.contains("tray invalidate"), "nothing was sent")
        script.type("x")
        script.send(.send)
        #expect(log.lines.contains("tray invalidate") == clears)
    }
}

final class PlugInLog: Sendable {
    private let entries = Mutex<[String]>([])
    var lines: [String] { entries.withLock { $0 } }
    func add(_ line: String) { entries.withLock { $0.append(line) } }
}

/// Accepts a single type and records its calls.
struct FakeTray: ComposerInputPlugIn {
    let name: String
    let acceptedType: String
    let log: PlugInLog

    func attached(to state: ComposerState) { log.add("\(name) attached") }
    func detached() { log.add("\(name) detached") }
    func reload() { log.add("\(name) reload") }
    func invalidate() { log.add("\(name) invalidate") }
    func handle(_ offer: PasteOffer, state: ComposerState) -> Bool {
        let type =
            switch offer {
            case .fragment, .text: "text"
            case .media(let attachment): attachment.type
            }
        log.add("\(name) \(type)")
        return type == acceptedType
    }
}
