import ChatViewModels
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import GtkKit

/// The question before the program ends although something would be lost.
final class QuitDialogTests: GtkTestCase {
    @MainActor
    private final class Ending {
        var count = 0
        var question: EndQuestion?
        let confirmation = EndConfirmation { _ in .work }

        /// Requests the end, and shows the question over a window.
        func request(over window: Widget) {
            confirmation.request({ [weak self] in self?.count += 1 }) { [weak self, weak window] question in
                self?.question = question
                if let window { QuitDialog.present(question, over: window) }
            }
        }
    }

    func testQuestionAboutTheBackgroundIsAskedOnce() throws {
        try onMain {
            let window = TestWindow(Label("behind"))
            var answers: [Bool] = []
            for response in ["run", "cancel", "quit"] {
                for _ in 0..<2 { BackgroundDialog.present(over: window.window) { answers.append($0) } }
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                XCTAssertEqual(OpenDialogs.all.count, 1)
                let alert = try XCTUnwrap(OpenDialogs.alert)
                alert.respond(response)
                alert.close()
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            }
            XCTAssertEqual(answers, [true, false])
            window.close()
        }
    }

    func testQuitEndsTheProgramAndCancelDoesNot() throws {
        try onMain {
            let ending = Ending()
            let window = TestWindow(Label("behind"))
            for (response, count) in [("cancel", 0), ("confirm", 1)] {
                ending.request(over: window.window)
                XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
                // As the buttons do.
                let alert = try XCTUnwrap(OpenDialogs.alert)
                alert.respond(response)
                alert.close()
                XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
                XCTAssertEqual(ending.count, count)
            }
            window.close()
        }
    }

    func testSecondRequestOpensNoSecondDialog() {
        onMain {
            let ending = Ending()
            let window = TestWindow(Label("behind"))
            ending.request(over: window.window)
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.count == 1 })
            ending.request(over: window.window)
            _ = MainLoop.pump(forAtMost: 0.1) { OpenDialogs.all.count > 1 }
            XCTAssertEqual(OpenDialogs.all.count, 1)
            OpenDialogs.closeAll()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            // Once it is closed, another request asks again.
            ending.request(over: window.window)
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.count == 1 })
            OpenDialogs.closeAll()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            XCTAssertEqual(ending.count, 0)
            window.close()
        }
    }

    func testWithdrawnQuestionIsNotShown() throws {
        try onMain {
            let ending = Ending()
            let window = TestWindow(Label("behind"))
            ending.request(over: window.window)
            XCTAssertTrue(MainLoop.pump { OpenDialogs.alert != nil })
            let question = try XCTUnwrap(ending.question)
            question.withdraw()
            XCTAssertTrue(MainLoop.pump { OpenDialogs.all.isEmpty })
            QuitDialog.present(question, over: window.window)
            XCTAssertTrue(OpenDialogs.all.isEmpty)
            XCTAssertEqual(ending.count, 0)
            window.close()
        }
    }
}
