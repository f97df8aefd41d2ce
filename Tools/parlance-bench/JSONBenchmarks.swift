import Foundation
import JSONReading
import ToolSupport

/// The cost of parsing JSON: a homeserver's response as a whole, and an export as a stream.
enum JSONBenchmarks {
    private static let responseSize = 1_000_000
    private static let exportSize = 100_000_000

    static func rows() throws -> [BenchmarkRow] {
        let response = makeResponse(bytes: responseSize)
        let whole = (0..<15).map { _ in cpuMilliseconds { read(response) } }.min() ?? .infinity
        let export = export(bytes: exportSize)
        let small = export.prefix(export.count / 100)
        let streamed = cpuMilliseconds { stream(export) }
        let little = (0..<15).map { _ in cpuMilliseconds { stream(small) } }.min() ?? .infinity
        return [
            BenchmarkRow(
                name: "json: sync answer of 1 MB to values",
                value: try Callgrind.instructions(per: "json", few: 2, many: 12).rounded(), unit: "instructions",
                target: 120_000_000),
            BenchmarkRow(name: "json: the same in time", value: whole, unit: "ms of CPU", target: 20),
            BenchmarkRow(
                name: "json: export of 100 MB, streamed", value: streamed.rounded(), unit: "ms of CPU", target: 2_000),
            BenchmarkRow(
                name: "json: a byte of that to one of 1 MB", value: streamed / little / 100, unit: "ratio",
                target: 1.5),
        ]
    }

    /// Runs a workload by name, for ``Callgrind``.
    ///
    /// - Returns: `false` if there is no such workload.
    static func run(_ arguments: [String]) -> Bool {
        guard arguments.count == 2, arguments[0] == "json", let count = Int(arguments[1]) else { return false }
        let response = makeResponse(bytes: responseSize)
        for _ in 0..<count { read(response) }
        return true
    }

    private static func cpuMilliseconds(_ work: () -> Void) -> Double {
        let start = clock()
        work()
        return Double(clock() - start) / 1000
    }

    private static func read(_ response: Data) {
        // An error fails the precondition.
        precondition((try? JSONValue(parsing: response, emptiesTooDeep: true))?["rooms"] != nil, "no answer of a sync")
    }

    /// Parses the export in chunks, as from a file, and receives it message by message.
    private static func stream(_ export: Data) {
        let receiver = Messages()
        let stream = JSONStream(receiver: receiver)
        for start in stride(from: export.startIndex, to: export.endIndex, by: 1 << 16) {
            // Without any message the precondition fails.
            try? stream.feed(export[start..<min(start + 1 << 16, export.endIndex)])
        }
        precondition(receiver.count > 0, "no export")
    }

    private final class Messages: JSONReceiver {
        private(set) var count = 0

        func entersContainer(at path: [JSONStep]) -> Bool { path.isEmpty || path == [.key("messages")] }
        func receive(_ value: JSONValue, at path: [JSONStep]) { count += 1 }
        func leaveContainer(at path: [JSONStep]) {}
    }

    // MARK: Samples

    /// Returns rooms with members and messages in the format of a `/sync` response.
    private static func makeResponse(bytes: Int) -> Data {
        var random = SeededGenerator(seed: 11)
        var text = #"{"next_batch":"s72595_4483_1934","rooms":{"join":{"#
        var rooms = 0
        while text.utf8.count < bytes {
            let events = (0..<20).map { _ in event(&random) }.joined(separator: ",")
            let members = (0..<8).map { _ in member(&random) }.joined(separator: ",")
            text += """
                \(rooms == 0 ? "" : ",")"!\(identifier(18, &random)):example.org":{"timeline":{"events":[\(events)],"limited":true,\
                "prev_batch":"t392-\(identifier(20, &random))"},"state":{"events":[\(members)]},"ephemeral":{"events":[]},\
                "account_data":{"events":[]},"unread_notifications":{"notification_count":3,"highlight_count":0},\
                "summary":{"m.heroes":["\(user(&random))"],"m.joined_member_count":17}}
                """
            rooms += 1
        }
        return Data((text + #"},"invite":{},"leave":{}}}"#).utf8)
    }

    private static func event(_ random: inout SeededGenerator) -> String {
        let body = StoreDataset.text(using: &random)
        let content =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: #"{"msgtype":"m.text","body":"\#(body) \"naïve\"\n👍","m.mentions":{}}"#
            case 1:
                #"{"msgtype":"m.text","body":"\#(body)","format":"org.matrix.custom.html","formatted_body":"<p>\#(body)</p>"}"#
            case 2:
                #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$\#(identifier(43, &random))","key":"👍"}}"#
            case 3:
                #"{"msgtype":"m.image","body":"a.jpg","url":"mxc://example.org/\#(identifier(24, &random))","info":{"mimetype":"image/jpeg","w":1920,"h":1080,"size":217843}}"#
            default: #"{"msgtype":"m.text","body":"\#(body)","m.mentions":{}}"#
            }
        return """
            {"type":"m.room.message","event_id":"$\(identifier(43, &random))","sender":"\(user(&random))",\
            "origin_server_ts":\(Int.random(in: 1_600_000_000_000...1_700_000_000_000, using: &random)),"content":\(content),\
            "unsigned":{"age":\(Int.random(in: 0...900_000_000, using: &random)),"membership":"join"}}
            """
    }

    private static func member(_ random: inout SeededGenerator) -> String {
        let user = user(&random)
        return """
            {"type":"m.room.member","state_key":"\(user)","sender":"\(user)","event_id":"$\(identifier(43, &random))",\
            "origin_server_ts":\(Int.random(in: 1_600_000_000_000...1_700_000_000_000, using: &random)),\
            "content":{"membership":"join","displayname":"\(identifier(8, &random))"}}
            """
    }

    /// Returns messages in the format of a Telegram export.
    private static func export(bytes: Int) -> Data {
        var random = SeededGenerator(seed: 7)
        var messages = ""
        for number in 0..<4000 {
            messages += """
                {"id":\(number),"type":"message","date_unixtime":"\(1_500_000_000 + number * 30)","from":"Person \(number % 40)",\
                "from_id":"user\(number % 40)","text":"\(StoreDataset.text(using: &random))","text_entities":[]},

                """
        }
        var export = Data(#"{"name":"Long","type":"private_group","id":1,"messages":["#.utf8)
        export.reserveCapacity(bytes + messages.utf8.count)
        while export.count < bytes { export.append(contentsOf: messages.utf8) }
        export.append(contentsOf: "{}]}".utf8)
        return export
    }

    private static func user(_ random: inout SeededGenerator) -> String {
        "@user\(Int.random(in: 0..<60, using: &random)):matrix.example.org"
    }

    private static func identifier(_ length: Int, _ random: inout SeededGenerator) -> String {
        let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8)
        return String(
            decoding: (0..<length).map { _ in letters[Int.random(in: 0..<64, using: &random)] }, as: UTF8.self)
    }
}
