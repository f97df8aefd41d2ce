import Foundation
import Testing
import ToolSupport

@testable import MatrixCrypto

@Suite(.enabled(if: EncryptionSetting.isOn)) struct StoredBytesTests {
    private struct Record: Codable {
        let bytes: StoredBytes
        var other: StoredBytes?
    }

    private func read(_ text: String) throws -> Record { try JSONDecoder().decode(Record.self, from: Data(text.utf8)) }

    @Test("Bytes are read back, also from the arrays of numbers that earlier versions stored")
    func reading() throws {
        for bytes in [[], [0], Array(UInt8.min...UInt8.max)] {
            let record = try JSONEncoder().encode(Record(bytes: StoredBytes(bytes)))
            #expect(try read(String(decoding: record, as: UTF8.self)).bytes.bytes == bytes)
            #expect(try read(#"{"bytes":[\#(bytes.map(String.init).joined(separator: ","))]}"#).bytes.bytes == bytes)
        }
        #expect(try read(#"{"bytes":"AQ"}"#).other == nil)
    }

    @Test("Anything but bytes is an error", arguments: [#""!""#, "[256]", "[-1]", #"["1"]"#, "{}", "1", "null"])
    func malformed(_ value: String) {
        #expect(throws: (any Error).self) { try read(#"{"bytes":\#(value)}"#) }
        guard value != "null" else { return }
        #expect(throws: (any Error).self) { try read(#"{"bytes":"","other":\#(value)}"#) }
    }
}
