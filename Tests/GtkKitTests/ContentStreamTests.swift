import CGtk
import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// Reading what another application offers.
final class ContentStreamTests: GtkTestCase {
    @MainActor
    private static func stream(_ data: Data) -> Object {
        let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        return Object(owning: UnsafeMutableRawPointer(g_memory_input_stream_new_from_bytes(bytes)))
    }

    /// Reads a stream to its end.
    @MainActor
    private static func read(
        _ stream: Object, limit: Int = ContentStream.limit, chunk: Int = 1 << 20
    ) -> Result<Data, ContentStream.Failure>? {
        var outcome: Result<Data, ContentStream.Failure>?
        ContentStream.readAll(stream, limit: limit, chunk: chunk) { outcome = $0 }
        XCTAssertTrue(MainLoop.pump { outcome != nil })
        return outcome
    }

    func testDataIsWholeWhateverTheSizeOfItsReads() {
        onMain {
            let data = Data((0..<20_011).map { UInt8(truncatingIfNeeded: $0 * 31) })
            for chunk in [40, 1_000, 20_011, 1 << 20] {
                XCTAssertEqual(Self.read(Self.stream(data), chunk: chunk), .success(data), "\(chunk) bytes a read")
            }
            XCTAssertEqual(Self.read(Self.stream(Data())), .success(Data()))
        }
    }

    func testDataUpToTheLimitIsRead() {
        onMain {
            let data = Data(repeating: 1, count: 1_000)
            XCTAssertEqual(Self.read(Self.stream(data), limit: 1_000, chunk: 300), .success(data))
            XCTAssertEqual(Self.read(Self.stream(data), limit: 999, chunk: 300), .failure(.tooLarge))
        }
    }

    func testStreamThatFailsIsUnreadable() {
        onMain {
            let stream = Self.stream(Data([1]))
            g_input_stream_close(stream.cast(), nil, nil)
            XCTAssertEqual(Self.read(stream), .failure(.unreadable))
        }
    }
}
