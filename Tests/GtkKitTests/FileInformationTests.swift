import GtkTestSupport
import XCTest

@testable import GtkKit

final class FileInformationTests: GtkTestCase {
    /// Other clients cannot play the desktop-specific MIME types, so the registered ones are used.
    func testOggFileHasItsRegisteredType() {
        for (type, name, expected) in [
            ("audio/x-vorbis+ogg", "a.ogg", "audio/ogg"), ("audio/x-opus+ogg", "a.opus", "audio/ogg"),
            ("video/x-theora+ogg", "a.ogv", "video/ogg"), ("application/ogg", "a.ogg", "audio/ogg"),
            ("application/ogg", "a.OGV", "video/ogg"), ("audio/mpeg", "a.mp3", "audio/mpeg"),
        ] {
            onMain { XCTAssertEqual(FileInformation.shared(type, of: name), expected) }
        }
    }
}
