import Foundation
import GtkTestSupport
import XCTest

@testable import GtkKit

/// The environment that GDK and child processes see.
final class GLProbeTests: GtkTestCase {
    func testOnlyTheStartOfGTKFindsTheVariable() throws {
        try onMain {
            // Other tests are unaffected: GTK has read its variables.
            let names = ["GDK_DEBUG", "GDK_DISABLE"]
            for name in names { unsetenv(name) }
            setenv("GSK_RENDERER", "gl", 1)
            GLProbe.prepare()
            XCTAssertEqual(names.compactMap { getenv($0) }.count, 0, "something draws with GL")
            setenv("GSK_RENDERER", "cairo", 1)
            GLProbe.prepare()
            XCTAssertEqual(names.compactMap { Self.value($0) }, [""])
            let during = GLProbe.suppressed { names.compactMap { Self.value($0) } }
            XCTAssertTrue([["gl-disable"], ["gl"]].contains(during), "\(during)")
            let child = Process()
            let output = Pipe()
            child.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            child.standardOutput = output
            try child.run()
            let variables = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            XCTAssertFalse(variables.contains("gl-disable"), variables)
            XCTAssertFalse(variables.contains("GDK_DISABLE=gl"), variables)
            // The user's own settings are kept.
            setenv("GDK_DEBUG", "nograbs", 1)
            setenv("GDK_DISABLE", "vulkan", 1)
            GLProbe.prepare()
            XCTAssertEqual(names.compactMap { Self.value($0) }, ["nograbs", "vulkan"])
            for name in names { unsetenv(name) }
        }
    }

    private static func value(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
