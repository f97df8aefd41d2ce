import Testing

@testable import ChatViewModels

struct ProgramLifecycleTests {
    private typealias Event = ProgramLifecycle.Event
    private typealias Command = ProgramLifecycle.Command

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let events: [ProgramLifecycle.Event]
        let commands: [ProgramLifecycle.Command]
        var stays = false
    }

    @Test(arguments: [
        Row(testDescription: "a launch", events: [.windowRequested, .sessionOpened], commands: [.presentWindow]),
        Row(
            testDescription: "a service that nobody asks for a window", events: [.sessionOpened, .waitEnded],
            commands: [.awaitRequest, .closeSession]),
        Row(
            testDescription: "a service that is asked for a window",
            events: [.sessionOpened, .windowRequested, .waitEnded], commands: [.awaitRequest, .presentWindow]),
        Row(
            testDescription: "a service that may stay without a window", events: [.sessionOpened, .waitEnded],
            commands: [], stays: true),
        Row(
            testDescription: "activation of an open window",
            events: [.windowRequested, .sessionOpened, .windowRequested], commands: [.presentWindow, .presentWindow]),
        Row(
            testDescription: "closing ends the program",
            events: [.windowRequested, .sessionOpened, .windowClosing, .windowClosed, .sessionClosed, .nameReleased],
            commands: [.presentWindow, .closeSession, .releaseName, .end]),
        Row(
            testDescription: "closing where the program may stay",
            events: [.windowRequested, .sessionOpened, .windowClosing, .windowClosed, .windowRequested],
            commands: [.presentWindow, .presentWindow], stays: true),
        Row(
            testDescription: "activation while the window closes",
            events: [.windowRequested, .sessionOpened, .windowClosing, .windowRequested, .windowClosed],
            commands: [.presentWindow, .presentWindow]),
        Row(
            testDescription: "activation while the session closes",
            events: [
                .windowRequested, .sessionOpened, .windowClosing, .windowClosed, .windowRequested, .sessionClosed,
                .sessionOpened,
            ], commands: [.presentWindow, .closeSession, .openSession, .presentWindow]),
        Row(
            testDescription: "Quit with a window",
            events: [
                .windowRequested, .sessionOpened, .quitRequested, .windowClosing, .windowClosed, .sessionClosed,
                .nameReleased,
            ],
            commands: [.presentWindow, .closeWindow, .closeSession, .releaseName, .end], stays: true),
        Row(
            testDescription: "Quit without a window",
            events: [.sessionOpened, .quitRequested, .sessionClosed, .nameReleased],
            commands: [.closeSession, .releaseName, .end], stays: true),
        Row(
            testDescription: "Quit while the window closes",
            events: [.windowRequested, .sessionOpened, .windowClosing, .quitRequested, .windowClosed],
            commands: [.presentWindow, .closeSession], stays: true),
        Row(
            testDescription: "Quit before the session is open",
            events: [.windowRequested, .quitRequested, .sessionOpened, .sessionClosed, .nameReleased],
            commands: [.closeSession, .releaseName, .end]),
        Row(
            testDescription: "a launch right after Quit",
            events: [.sessionOpened, .quitRequested, .windowRequested, .sessionClosed],
            commands: [.closeSession, .openSession], stays: true),
        Row(
            testDescription: "a launch just before the program ends after Quit",
            events: [
                .sessionOpened, .quitRequested, .sessionClosed, .windowRequested, .nameReleased, .nameClaimed,
                .sessionOpened,
            ], commands: [.closeSession, .releaseName, .claimName, .openSession, .presentWindow], stays: true),
        Row(
            testDescription: "a launch while another process was started",
            events: [.sessionOpened, .quitRequested, .sessionClosed, .windowRequested, .nameReleased, .nameLost],
            commands: [.closeSession, .releaseName, .claimName, .end], stays: true),
        Row(
            testDescription: "Quit once more after such a launch",
            events: [
                .sessionOpened, .quitRequested, .sessionClosed, .windowRequested, .nameReleased, .quitRequested,
                .nameClaimed, .nameReleased,
            ], commands: [.closeSession, .releaseName, .claimName, .releaseName, .end], stays: true),
        Row(
            testDescription: "a restart after the window was closed",
            events: [
                .windowRequested, .sessionOpened, .windowClosing, .windowClosed, .restartDue, .sessionClosed,
                .nameReleased, .windowRequested,
            ], commands: [.presentWindow, .closeSession, .releaseName, .restart], stays: true),
        Row(
            testDescription: "no restart where the program may not stay", events: [.sessionOpened, .restartDue],
            commands: [.awaitRequest]),
        Row(
            testDescription: "no restart with a window", events: [.windowRequested, .sessionOpened, .restartDue],
            commands: [.presentWindow], stays: true),
        Row(
            testDescription: "activation instead of a restart",
            events: [.sessionOpened, .restartDue, .windowRequested, .sessionClosed, .sessionOpened],
            commands: [.closeSession, .openSession, .presentWindow], stays: true),
        Row(
            testDescription: "an answer to a notification instead of a restart",
            events: [.sessionOpened, .restartDue, .sessionRequested, .sessionClosed, .sessionOpened, .restartDue],
            commands: [.closeSession, .openSession, .closeSession], stays: true),
        Row(
            testDescription: "an answer to a notification just before a restart",
            events: [
                .sessionOpened, .restartDue, .sessionClosed, .sessionRequested, .nameReleased, .nameClaimed,
                .sessionOpened, .restartDue, .sessionClosed, .nameReleased,
            ],
            commands: [
                .closeSession, .releaseName, .claimName, .openSession, .closeSession, .releaseName, .restart,
            ], stays: true),
        Row(
            testDescription: "Quit instead of a restart",
            events: [.sessionOpened, .restartDue, .sessionRequested, .quitRequested, .sessionClosed, .nameReleased],
            commands: [.closeSession, .releaseName, .end], stays: true),
        Row(
            testDescription: "an answer to a notification after Quit",
            events: [.sessionOpened, .quitRequested, .sessionRequested, .sessionClosed, .nameReleased],
            commands: [.closeSession, .releaseName, .end], stays: true),
        Row(
            testDescription: "a store that cannot be opened",
            events: [.windowRequested, .sessionFailed, .windowRequested, .quitRequested], commands: [.end]),
        Row(
            testDescription: "a store that is repaired",
            events: [.windowRequested, .sessionFailed, .repaired, .sessionOpened],
            commands: [.openSession, .presentWindow]),
    ])
    func eventsHaveTheseCommands(row: Row) {
        var lifecycle = ProgramLifecycle()
        #expect(row.events.flatMap { lifecycle.handle($0, staysWithoutWindow: row.stays) } == row.commands)
    }
}
