import ChatCore
import GtkTestSupport
import XCTest

@testable import ChatViewModels
@testable import parlance_gallery

/// The states of encryption that `make screenshots` draws.
final class EncryptionPicturesTests: GtkTestCase {
    func testEachPageOfTheSetUpIsDrawn() throws {
        try onMain {
            let service = FixtureEncryption()
            let encryption = EncryptionCoordinator(service) { $0.rawValue }
            var pages: Set<EncryptionStates.SetUpPage> = []
            for setUp in EncryptionStates.setUps {
                let opened = try finish { await setUp.open(in: encryption, of: service) { _ in } }
                let viewModel = try XCTUnwrap(opened, setUp.name)
                XCTAssertEqual(EncryptionStates.page(of: viewModel.state), setUp.page, setUp.name)
                XCTAssertEqual(viewModel.state.isBusy, setUp.steps.last?.answer == .late, setUp.name)
                pages.insert(setUp.page)
                viewModel.send(.close)
                service.answer(.success)
            }
            XCTAssertEqual(pages, Set(EncryptionStates.SetUpPage.allCases))
        }
    }

    func testEachReasonAndWarningIsDrawn() {
        onMain {
            let messages = FixtureConversation.sealedMessages(in: FixtureService.sealed, now: Gallery.now)
            XCTAssertEqual(Set(messages.compactMap(\.content.seal)), Set(SealReason.allCases))
            XCTAssertEqual(Set(messages.compactMap(\.trust)), Set(MessageTrust.allCases))
            let recoveries = EncryptionStates.signOuts.map { $0.pending.recovery }
            XCTAssertEqual(Set(recoveries), Set(EncryptionStatus.Recovery.allCases))
        }
    }

    func testNoPictureReplacesAnother() {
        onMain {
            let groups = [
                EncryptionStates.setUps.map { $0.name },
                // Both are drawn in the same window.
                EncryptionStates.notices.map { $0.name } + EncryptionStates.banners.map { $0.name },
                EncryptionStates.signOuts.map { $0.name }, EncryptionStates.preferences.map { $0.name },
                EncryptionStates.phases.map { $0.name }, EncryptionStates.identities.map { $0.name },
            ]
            for names in groups { XCTAssertEqual(names.count, Set(names).count, "\(names)") }
        }
    }
}
