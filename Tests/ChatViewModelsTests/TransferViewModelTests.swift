import ChatCore
import ChatTestSupport
import ChatViewModels
import Foundation
import Testing

@MainActor @Suite(.timeLimit(.minutes(10))) struct TransferViewModelTests {
    /// Reports the preset progress, then runs `work`.
    private struct FakeArchive: ConversationArchive {
        var progress: [TransferProgress] = []
        var known: [EarlierImport] = []
        var answered: @Sendable (RepeatedImport) async -> Void = { _ in }
        var work: @Sendable () async throws -> ImportReport = { ImportReport() }

        func export(
            _ room: RoomID, named name: String, as format: ExportFormat, into folder: URL,
            progress: @escaping @Sendable (TransferProgress) -> Void
        ) async throws -> ExportReport {
            _ = try await work()
            return ExportReport(folder: folder.appending(path: name), messages: 2, files: 1, missingFiles: 0)
        }

        func importConversations(
            from source: URL, resolveRepeats: @escaping @Sendable ([EarlierImport]) async throws -> RepeatedImport,
            progress report: @escaping @Sendable (TransferProgress) -> Void
        ) async throws -> ImportReport {
            progress.forEach(report)
            if !known.isEmpty { await answered(try await resolveRepeats(known)) }
            return try await work()
        }
    }

    private let displayed = Recorder<RoomID>()
    private let url = URL(filePath: "/somewhere/export.json")

    private func running(_ archive: FakeArchive) -> TransferViewModel {
        let model = TransferViewModel(.import(url), archive: archive) { [displayed] in displayed.record($0) }
        model.start()
        return model
    }

    @Test func importEndsWithItsReport() async {
        let report = ImportReport(
            conversations: [ImportReport.Conversation(room: RoomID("a"), name: "A", messages: 3)])
        let model = running(FakeArchive(work: { report }))
        #expect(model.state.isImport && model.state.canCancel)
        await eventually { model.state.isOver }
        #expect(model.state.phase == .imported(report))
        model.send(.showImported)
        #expect(displayed.values == [RoomID("a")])
    }

    @Test("The result of a successful transfer can be opened, and the default button has the focus")
    func resultCanBeOpened() {
        let archive = FakeArchive()
        var state = TransferViewModel(.import(url), archive: archive).state
        #expect(!state.canOpen && state.focus == nil)
        state.phase = .asking(known)
        #expect(!state.canOpen && state.focus == .merge)
        state.phase = .imported(ImportReport())
        #expect(state.canOpen && state.focus == .open && state.exportedFolder == nil)
        state.phase = .exported(ExportReport(folder: url, messages: 1, files: 0, missingFiles: 0))
        #expect(state.canOpen && state.focus == .open && state.exportedFolder == url)
        for phase in [TransferViewModel.Phase.failed(.archive(.empty)), .cancelled] {
            state.phase = phase
            #expect(!state.canOpen && state.focus == .close)
        }
    }

    private let known = [
        EarlierImport(staged: RoomID("b"), room: RoomID("a"), name: "A", newMessages: 2)
    ]

    @Test(arguments: [RepeatedImport.merge, .newRooms])
    func repeatedImportAsksHowToProceed(_ answer: RepeatedImport) async {
        let answers = Recorder<RepeatedImport>()
        let model = running(FakeArchive(known: known, answered: { await answers.record($0) }))
        await eventually { model.state.phase == .asking(known) }
        #expect(model.state.isAsking && model.state.canCancel && !model.state.isOver)
        model.send(.decide(answer))
        model.send(.decide(answer))
        await eventually { model.state.isOver }
        #expect(model.state.phase == .imported(ImportReport()))
        #expect(answers.values == [answer])
    }

    @Test func repeatedImportQuestionCanBeCanceled() async {
        let answers = Recorder<RepeatedImport>()
        let model = running(FakeArchive(known: known, answered: { await answers.record($0) }))
        await eventually { model.state.isAsking }
        model.send(.cancel)
        #expect(model.state.phase == .stopping)
        await eventually { model.state.isOver }
        #expect(model.state.phase == .cancelled && answers.values.isEmpty)
    }

    @Test func progressIsShownUntilTheEnd() async {
        let gate = Gate()
        let progress = TransferProgress(messages: 2000, fraction: 0.5)
        let model = running(
            FakeArchive(
                progress: [progress],
                work: {
                    await gate.pass()
                    return ImportReport()
                }))
        await eventually { model.state.phase == .running(progress) }
        gate.open()
        await eventually { model.state.phase == .imported(ImportReport()) }
    }

    @Test func cancelingWaitsForCleanup() async {
        let gate = Gate()
        let model = running(
            FakeArchive(work: {
                await gate.pass()
                try Task.checkCancellation()
                return ImportReport()
            }))
        await eventually { gate.waiting == 1 }
        model.send(.cancel)
        #expect(model.state.phase == .stopping && !model.state.canCancel && !model.state.isOver)
        model.send(.cancel)
        gate.open()
        await eventually { model.state.isOver }
        #expect(model.state.phase == .cancelled)
    }

    @Test("An end of the program waits for a transfer, also while it cleans up", arguments: [true, false])
    func transferIsCounted(isImport: Bool) async {
        let (gate, ongoingWork) = (Gate(), OngoingWork())
        let archive = FakeArchive(work: {
            await gate.pass()
            try Task.checkCancellation()
            return ImportReport()
        })
        let task: TransferViewModel.Task =
            isImport ? .import(url) : .export(RoomID("a"), name: "A", .html, into: URL(filePath: "/somewhere"))
        let model = TransferViewModel(task, archive: archive, countedBy: ongoingWork)
        #expect(ongoingWork.isEmpty)
        model.start()
        await eventually { gate.waiting == 1 }
        #expect(!ongoingWork.isEmpty)
        model.send(.cancel)
        #expect(!ongoingWork.isEmpty)
        gate.open()
        await eventually { model.state.isOver }
        #expect(ongoingWork.isEmpty)
    }

    @Test(arguments: [ArchiveError.truncated, .tooDeep, .unknownFormat])
    func errorsAreShown(_ error: ArchiveError) async {
        let model = running(FakeArchive(work: { throw error }))
        await eventually { model.state.isOver }
        #expect(model.state.phase == .failed(.archive(error)))
    }

    @Test func exportReportsItsLocation() async {
        let model = TransferViewModel(
            .export(RoomID("a"), name: "A", .html, into: URL(filePath: "/somewhere")),
            archive: FakeArchive())
        model.start()
        await eventually { model.state.isOver }
        guard case .exported(let report) = model.state.phase else {
            Issue.record("\(model.state.phase)")
            return
        }
        #expect(report.folder.path == "/somewhere/A" && !model.state.isImport)
        let failing = TransferViewModel(
            .export(RoomID("a"), name: "A", .html, into: url), archive: FakeArchive(work: { throw ChatError.notFound }))
        failing.start()
        await eventually { failing.state.isOver }
        #expect(failing.state.phase == .failed(.chat(.notFound)))
    }
}
