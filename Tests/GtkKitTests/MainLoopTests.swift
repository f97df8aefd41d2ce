import Dispatch
import Foundation
import GtkKit
import GtkTestSupport
import Observation
import XCTest

final class MainLoopTests: GtkTestCase {
    @MainActor final class Probe {
        var steps: [String] = []
    }

    @MainActor @Observable final class Counter {
        var value = 0
    }

    /// An object that notes its readers by a token of theirs.
    final class Source: Observable, Sendable {
        final class Token: Hashable, Sendable {
            static func == (left: Token, right: Token) -> Bool { left === right }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }

        private let registrar = ObservationRegistrar()

        subscript(token: Token) -> Int {
            registrar.access(self, keyPath: \Source.[token])
            return 0
        }
    }

    func testMainActorTaskAndSleepFinishWhileOnlyGLibIsPumped() {
        onMain {
            let probe = Probe()
            Task { @MainActor in
                probe.steps.append("started")
                // Throws only on cancellation, and nothing cancels this task.
                try? await Task.sleep(for: .milliseconds(5))
                probe.steps.append("slept")
                await Task.detached {}.value
                probe.steps.append("came back")
            }
            XCTAssertTrue(MainLoop.pump { probe.steps.count == 3 })
            XCTAssertEqual(probe.steps, ["started", "slept", "came back"])
        }
    }

    /// Without the alarm of `pump`, a loop that is not woken up would block until the test's own timeout.
    func testJobsOfTheMainActorWakeTheLoop() {
        onMain {
            let probe = Probe()
            let late = Timeout(after: .seconds(20)) { probe.steps.append("not woken up") }
            Thread.detachNewThread {
                // Until the loop waits for events.
                usleep(20_000)
                Task { @MainActor in
                    probe.steps.append("from a thread")
                    Task { @MainActor in probe.steps.append("from a job") }
                }
            }
            while probe.steps.count < 2 { MainLoop.iterate(mayBlock: true) }
            let source = Timeout(after: .milliseconds(1)) {
                Task { @MainActor in probe.steps.append("from a source") }
            }
            while probe.steps.count < 3 { MainLoop.iterate(mayBlock: true) }
            XCTAssertEqual(probe.steps, ["from a thread", "from a job", "from a source"])
            withExtendedLifetime((late, source)) {}
        }
    }

    /// A job that always enqueues another one would otherwise leave no turn to input and drawing.
    func testYieldingTaskLetsOtherSourcesRun() {
        onMain {
            let probe = Probe()
            Task { @MainActor in
                while probe.steps.isEmpty { await Task.yield() }
                probe.steps.append("task")
            }
            let source = Timeout(after: .milliseconds(5)) { probe.steps.append("source") }
            // Not by `pump`, whose alarm is a source, too.
            while probe.steps.count < 2 { MainLoop.iterate(mayBlock: true) }
            XCTAssertEqual(probe.steps, ["source", "task"])
            withExtendedLifetime(source) {}
        }
    }

    func testRenderingFollowsTheState() {
        onMain {
            let counter = Counter()
            let probe = Probe()
            var rendering: Rendering? = Rendering({ counter.value / 2 }) { half in
                probe.steps.append("\(half)")
                // A change by the rendering itself is rendered, too.
                if half == 50 { counter.value = 7 }
            }
            XCTAssertEqual(probe.steps, ["0"])
            for _ in 1...100 { counter.value += 1 }
            XCTAssertTrue(MainLoop.pump { probe.steps.count >= 3 })
            XCTAssertEqual(probe.steps, ["0", "50", "3"], "each batch once")
            counter.value = 6
            MainLoop.iterate()
            counter.value = 9
            XCTAssertTrue(MainLoop.pump { probe.steps.count >= 4 })
            XCTAssertEqual(probe.steps.last, "4", "an equal state is not rendered")
            counter.value = 11
            rendering = nil
            MainLoop.iterate()
            XCTAssertNil(rendering)
            XCTAssertEqual(probe.steps.count, 4, "nothing after its end")
        }
    }

    func testDroppedRenderingLeavesNothingWithWhatItHasRead() {
        onMain {
            let source = Source()
            weak var token: Source.Token?
            var rendering: Rendering?
            do {
                let made = Source.Token()
                token = made
                rendering = Rendering({ source[made] }, { _ in })
            }
            XCTAssertNotNil(token)
            rendering = nil
            XCTAssertNil(rendering)
            XCTAssertTrue(MainLoop.pump { token == nil })
            withExtendedLifetime(source) {}
        }
    }

    func testDispatchMainQueueIsDrained() {
        onMain {
            let probe = Probe()
            DispatchQueue.main.async { MainActor.assumeIsolated { probe.steps.append("main queue") } }
            XCTAssertTrue(MainLoop.pump { !probe.steps.isEmpty })
        }
    }

    func testObservationsReportABurstOnce() {
        onMain {
            let counter = Counter()
            let probe = Probe()
            let task = Task { @MainActor in
                for await value in Observations({ counter.value }) { probe.steps.append("\(value)") }
            }
            XCTAssertTrue(MainLoop.pump { probe.steps == ["0"] })
            for _ in 1...100 { counter.value += 1 }
            XCTAssertTrue(MainLoop.pump { probe.steps.count > 1 })
            task.cancel()
            XCTAssertEqual(probe.steps, ["0", "100"])
        }
    }

    func testPumpTimesOut() {
        onMain { XCTAssertFalse(MainLoop.pump(forAtMost: 0.06) { false }) }
    }

    func testDroppedTimeoutNeverFires() {
        onMain {
            let probe = Probe()
            var timeout: Timeout? = Timeout(after: .zero) { probe.steps.append("dropped") }
            XCTAssertEqual(timeout?.isPending, true)
            timeout = nil
            let second = Timeout(after: .milliseconds(1)) { probe.steps.append("kept") }
            XCTAssertTrue(MainLoop.pump { !second.isPending })
            XCTAssertEqual(probe.steps, ["kept"])
        }
    }

    func testTimeoutCanCancelItselfAndFreesItsClosure() {
        onMain {
            // Do not count closures of earlier tests that an idle source will free.
            while MainLoop.iterate() {}
            let before = ClosureCount.live
            let probe = Probe()
            var repeating: Timeout?
            repeating = Timeout(every: .milliseconds(1)) {
                probe.steps.append("tick")
                if probe.steps.count == 3 { repeating?.cancel() }
            }
            XCTAssertTrue(MainLoop.pump { repeating?.isPending == false })
            XCTAssertEqual(probe.steps.count, 3)
            repeating = nil
            XCTAssertEqual(ClosureCount.live, before)
        }
    }

    func testIdleRunsOnce() {
        onMain {
            let probe = Probe()
            let idle = Timeout(whenIdle: { probe.steps.append("idle") })
            XCTAssertTrue(MainLoop.pump { !idle.isPending })
            XCTAssertEqual(probe.steps, ["idle"])
        }
    }
}
