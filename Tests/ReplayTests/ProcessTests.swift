import Foundation
import Testing

/// `parlance-replay` as a process with pipes.
@Suite(.timeLimit(.minutes(10)))
struct ProcessTests {
    @Test func everyLineIsAnsweredImmediately() throws {
        let replay = try ReplayProcess()
        for (number, letter) in "abc".enumerated() {
            let response = try #require(try replay.response(to: #"{"type":"\#(letter)"}"#))
            #expect(response.hasPrefix(#"{"text":"\#("abc".prefix(number + 1))""#))
        }
        let (lines, status) = try replay.finish()
        #expect(lines.isEmpty && status == 0)
    }

    /// SLK-68, MIB-49: a binary that links only the engine loads no toolkit.
    @Test func engineLoadsNoToolkit() throws {
        let list = Process()
        let output = Pipe()
        list.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        list.arguments = ["ldd", ReplayProcess.program.path]
        list.standardOutput = output
        try list.run()
        let libraries = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        list.waitUntilExit()
        #expect(libraries.contains("libc.so"), "it is a program: \(libraries)")
        for name in ["gtk", "adwaita", "glib", "sqlite"] { #expect(!libraries.contains("lib\(name)"), "\(name)") }
    }

    /// Each case: a line, and whether it is an error.
    static let lines: [(String, Bool)] = [
        (#"{"state":true}"#, false), (#"{"type":"a"}"#, false), ("", true), ("nonsense", true),
        (#"{"select":[5,0]}"#, true), (String(repeating: "[", count: 100_000), true),
        (String(repeating: #"{"type":"#, count: 100_000), true),
    ]

    @Test(arguments: lines)
    func exitStatusReportsErrors(line: String, isError: Bool) throws {
        let replay = try ReplayProcess()
        let response = try #require(try replay.response(to: line))
        #expect(response.hasPrefix(#"{"error":"#) == isError)
        #expect(try replay.response(to: #"{"state":true}"#)?.hasPrefix(#"{"text":"#) == true, "it goes on")
        let (rest, status) = try replay.finish()
        #expect(rest.isEmpty && status == (isError ? 1 : 0))
    }

    @Test func emptyInputIsNoError() throws {
        let (lines, status) = try ReplayProcess().finish()
        #expect(lines.isEmpty && status == 0)
    }

    @Test func invalidUTF8IsAnError() throws {
        let replay = try ReplayProcess()
        try replay.write(Data([0xFF, 0xFE]) + Data(#"{"type":""#.utf8) + Data([0xC3, 0x28]) + Data("\"}\n".utf8))
        #expect(try replay.readLine() == #"{"error":"malformed JSON","line":1}"#)
        #expect(try replay.response(to: #"{"type":"é"}"#)?.hasPrefix(#"{"text":"é""#) == true)
        #expect(try replay.finish().status == 1)
    }

    /// A line may arrive in parts, split within a character; the last needs no line feed.
    @Test func lineCanArriveInParts() throws {
        let replay = try ReplayProcess()
        let bytes = Data(#"{"type":"👩‍💻"}"#.utf8)
        for byte in bytes { try replay.write(Data([byte])) }
        let (lines, status) = try replay.finish()
        #expect(lines.count == 1 && lines.first?.hasPrefix(#"{"text":"👩‍💻""#) == true && status == 0)
    }

    @Test func megabyteLineIsAnswered() throws {
        let replay = try ReplayProcess()
        let text = String(repeating: "x", count: 1_000_000)
        let response = try #require(try replay.response(to: #"{"load":{"text":"\#(text)"}}"#))
        #expect(response.utf8.count > 1_000_000 && response.hasPrefix(#"{"text":"xxx"#))
        #expect(try replay.response(to: #"{"backspace":1}"#)?.contains(#""selection":[999999,0]"#) == true)
        #expect(try replay.finish().status == 0)
    }
}
