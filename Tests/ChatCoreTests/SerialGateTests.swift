import ChatCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct SerialGateTests {
    /// Records the operations, and holds them until they are released.
    private actor Record {
        private(set) var entries: [String] = []
        private var isOpen = false
        private var held: [CheckedContinuation<Void, Never>] = []

        func add(_ entry: String) { entries.append(entry) }

        func waitForRelease() async {
            entries.append("held")
            if !isOpen { await withCheckedContinuation { held.append($0) } }
        }

        func release() {
            isOpen = true
            for continuation in held { continuation.resume() }
            held = []
        }

        func contains(_ entry: String) -> Bool { entries.contains(entry) }
    }

    /// Starts an operation that holds the gate until ``Record/release()``.
    private func occupy(_ gate: SerialGate, _ record: Record) async -> Task<Void, any Error> {
        let task = Task { try await gate.run { await record.waitForRelease() } }
        while await !record.contains("held") { await Task.yield() }
        return task
    }

    @Test("Operations never overlap, however often they suspend")
    func operationsNeverOverlap() async throws {
        actor Counter {
            private(set) var total = 0
            private(set) var overlaps = 0
            private var isRunning = false

            func begin() {
                if isRunning { overlaps += 1 }
                isRunning = true
                total += 1
            }

            func end() { isRunning = false }
        }
        let gate = SerialGate()
        let counter = Counter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await gate.run {
                        await counter.begin()
                        for _ in 0..<5 { await Task.yield() }
                        await counter.end()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await counter.total == 100)
        #expect(await counter.overlaps == 0)
    }

    @Test("Calls of one actor run in their order")
    func callsFromOneActorRunInOrder() async throws {
        actor Caller {
            let gate = SerialGate()
            var order: [Int] = []

            func call(_ number: Int) async throws {
                try await gate.run {
                    await Task.yield()
                    order.append(number)
                }
            }

            func callAll() async throws -> [Int] {
                // Each call reaches the gate before the next starts, because the actor runs one at a time.
                var tasks: [Task<Void, any Error>] = []
                for number in 0..<20 { tasks.append(Task { try await call(number) }) }
                for task in tasks { try await task.value }
                return order
            }
        }
        #expect(try await Caller().callAll() == Array(0..<20))
    }

    @Test("A nested call runs at once, and other callers still wait")
    func nestedCallsDoNotDeadlock() async throws {
        let gate = SerialGate()
        let record = Record()
        let outer = Task {
            try await gate.run {
                try await gate.run { await record.add("nested") }
                await gate.runEvenIfCanceled { await record.add("nested again") }
                await record.waitForRelease()
                await record.add("outer ends")
            }
        }
        while await !record.contains("held") { await Task.yield() }
        let other = Task { try await gate.run { await record.add("other") } }
        await record.release()
        try await outer.value
        try await other.value
        #expect(await record.entries == ["nested", "nested again", "held", "outer ends", "other"])
    }

    @Test("A task that an operation starts waits for the operation's end")
    func tasksStartedInsideAnOperationAreNotNested() async throws {
        let gate = SerialGate()
        let record = Record()
        let started = try await gate.run {
            let started = Task { try await gate.run { await record.add("started") } }
            for _ in 0..<50 { await Task.yield() }
            await record.add("operation ends")
            return started
        }
        try await started.value
        #expect(await record.entries == ["operation ends", "started"])
    }

    @Test("A canceled caller leaves the queue and does not run")
    func canceledCallersDoNotRun() async throws {
        let gate = SerialGate()
        let record = Record()
        let first = await occupy(gate, record)
        let canceled = Task { try await gate.run { await record.add("canceled") } }
        for _ in 0..<20 { await Task.yield() }
        let last = Task { try await gate.run { await record.add("last") } }
        canceled.cancel()
        await #expect(throws: CancellationError.self) { try await canceled.value }
        await record.release()
        try await first.value
        try await last.value
        #expect(await record.entries == ["held", "last"])
    }

    @Test("A task that is already canceled does not run, even at a free gate")
    func canceledTasksDoNotEnterAFreeGate() async throws {
        let gate = SerialGate()
        let record = Record()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await gate.run { await record.add("ran") }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(await record.entries == [])
        try await gate.run { await record.add("free") }
        #expect(await record.entries == ["free"])
    }

    @Test("`runEvenIfCanceled` runs in a canceled task, in its turn")
    func runEvenIfCanceledIgnoresCancellation() async throws {
        let gate = SerialGate()
        let record = Record()
        let first = await occupy(gate, record)
        let closing = Task {
            await gate.runEvenIfCanceled { await record.add("closed, canceled: \(Task.isCancelled)") }
        }
        closing.cancel()
        for _ in 0..<20 { await Task.yield() }
        await record.release()
        try await first.value
        await closing.value
        #expect(await record.entries == ["held", "closed, canceled: true"])
    }

    @Test("After an operation throws, the next one runs")
    func errorsReleaseTheGate() async throws {
        struct Failure: Error {}
        let gate = SerialGate()
        await #expect(throws: Failure.self) { try await gate.run { throw Failure() } }
        await #expect(throws: Failure.self) { try await gate.runEvenIfCanceled { throw Failure() } }
        #expect(try await gate.run { 1 } == 1)
    }
}
