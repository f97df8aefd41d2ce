import ComposerReplay
import Foundation
import Testing

struct ReplayTests {
    @Test func x() {}
}
