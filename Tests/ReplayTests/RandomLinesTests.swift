import ComposerReplay
import Foundation
import Testing
import ToolSupport

/// Random verbs with valid and invalid arguments: every line gets a response, and nothing traps.
struct RandomLinesTests {
    private static let verbs = [
        "configure", "load", "type", "insert", "preedit", "commit", "backspace", "deleteForward", "delete", "replace",
        "select",
        "key", "cut", "copy", "paste", "undo", "redo", "format", "results", "fail", "accept", "complete",
        "cancelCompletion",
        "edit", "commitEdit", "cancelEdit", "focus", "hide", "layout", "attach", "detach", "send", "sendFailed",
        "sendAccepted",
        "peerTyping", "transform", "advance", "word", "state", "nonsense",
    ]

    private static let arguments = [
        "true", "false", "null", "0", "1", "2", "-1", "0.5", "1e9", "9223372036854775807", "\"\"", "\"a\"",
        "\"👩‍💻 e\\u0301\"",
        "\"  \"", "\"**x\"", "\"\\n- a\"", "\"Bold\"", "\"Return\"", "\"Shift+Return\"", "\"Up\"", "\"Escape\"",
        "\"send-1\"", "[0,0]",
        "[0,2]", "[1,1]", "[2,9]", "[-1,0]", "[9223372036854775807,1]", "[]", "{}", #"{"preset":"slack"}"#,
        #"{"preset":"parlance","characterLimit":9,"limitPolicy":"hard"}"#, #"{"text":"load **me**","selection":[2,3]}"#,
        #"{"id":"m","text":"old"}"#, #"{"range":[0,1],"text":"🇩🇪"}"#, #"{"range":[0,2],"to":"upper"}"#,
        #"{"clipboard":true}"#,
        #"{"type":"image/png","name":"a","bytes":1}"#, #"{"name":"Ann","typing":true}"#, #"{"text":"x\ry\u2028"}"#,
        #"{"windowHeight":300,"lineHeight":17.5,"lines":40}"#, #"{"windowHeight":1e9,"lineHeight":1e-9}"#,
        #"{"text":"Ann","mentions":[{"id":"u","text":"Ann","range":[0,3],"short":"A"}]}"#,
        "\"@\"", "\"@an\"", "\":\"", #"{"entity":{"id":"u","name":"Ann Lee","short":"Ann"}}"#, #"{"entity":{}}"#,
        #"{"query":"query-1","entities":[{"id":"u","name":"Ann"},{"id":"v","name":""}],"final":false}"#,
        #"{"query":"query-2","entities":[],"final":true}"#, #"{"query":"query-1"}"#, #"{"preset":"hakawai"}"#,
    ]

    @Test(arguments: 0..<4)
    func randomLinesAreAnswered(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let driver = ReplayDriver()
        let again = ReplayDriver()
        for _ in 0..<2500 {
            let verb = Self.verbs.randomElement(using: &generator)!
            let line = Data(#"{"\#(verb)":\#(Self.arguments.randomElement(using: &generator)!)}"#.utf8)
            let response = driver.response(to: line)
            let object = try JSONSerialization.jsonObject(with: Data(response.utf8)) as? [String: Any]
            #expect(object?["error"] is String || object?["text"] is String)
            #expect(again.response(to: line) == response, "a trace replayed is equal")
        }
    }
}
