import ChatCore
import ChatTestSupport
import Composer
import Foundation
import Testing

@testable import ChatViewModels

/// The texts shown to the user, and when none is shown.
@MainActor struct DisplayTextTests {
    private static let wording = Wording(
        translator: .untranslated, byteCount: { "\($0) bytes" }, fullDate: { _ in "a date" })

    @Test("A rejection that is already visible shows no toast")
    func visibleRejectionsShowNoToast() {
        let text = ToastText(Self.wording)
        #expect(text.text(for: .rejected(.empty)) == nil)
        #expect(text.text(for: .rejected(.limit(rejected: 2))) == "2 characters over the limit were not inserted")
        #expect(text.text(for: .failed(.fileTooLarge(limit: 5))) == "Files larger than 5 bytes cannot be sent")
    }

    @Test("A file that is too large to be received is not said to be too large to be sent")
    func largeDownloads() {
        let text = ToastText(Self.wording)
        #expect(text.text(for: .downloadTooLarge(limit: 5)) == "Files larger than 5 bytes cannot be downloaded")
    }

    @Test("A file that no app opens is not said to be unreadable")
    func unsupportedFiles() {
        #expect(ToastText(Self.wording).text(for: ChatError.noApplication) == "No app can open this file")
    }

    @Test("An error of the storage may be one of reading, and is not the server's")
    func storageErrors() {
        let text = ToastText(Self.wording)
        #expect(text.text(for: ChatError.storage(reason: "x")) == "Could not read or save data")
        #expect(text.text(for: ChatError.unexpectedAnswer(reason: "x")) == "Unexpected answer from the server")
    }

    @Test("A file that could not be attached is distinguished from one that is still being attached")
    func rejectionsOfFiles() {
        let text = ToastText(Self.wording)
        #expect(text.text(for: .rejected(.uploading)) == "A file is still being attached")
        #expect(text.text(for: .rejected(.uploadFailed)) == "A file could not be attached. Retry or remove it.")
    }

    @Test("Why the newest message cannot be edited is told")
    func refusedEdits() {
        let text = ToastText(Self.wording)
        #expect(text.text(for: .notEdited(.pending)) == "Your last message can be edited once it is sent")
        #expect(text.text(for: .notEdited(.failed)) == "Your last message was not sent. Retry or discard it.")
        #expect(text.text(for: .notEdited(.noMessage)) == "There is no recent message of yours to edit")
    }

    @Test("A removal says who, from which room, and why if that is known")
    func removals() {
        func text(_ kind: RoomRemoval.Kind, _ reason: String?) -> String? {
            let removal = RoomRemoval(
                room: RoomID("r"), roomName: "Garden", kind: kind, actor: MemberID("bo"), actorName: "Bo",
                reason: reason)
            return ToastText(Self.wording).text(for: .removed(removal))
        }
        #expect(text(.removed, nil) == "Bo removed you from “Garden”")
        #expect(text(.removed, "off topic") == "Bo removed you from “Garden”: off topic")
        #expect(text(.banned, nil) == "Bo banned you from “Garden”")
        #expect(text(.banned, "{room}") == "Bo banned you from “Garden”: {room}")
    }

    @Test("Only clearing a composer can be undone from its toast")
    func toastButtons() {
        let text = ToastText(Self.wording)
        #expect(text.button(of: .cleared(RoomID("r"))) == "Undo")
        #expect(text.button(of: .message("Forwarded")) == nil)
    }

    @Test("A code block is titled by its language")
    func codeTitles() {
        let text = MessageText(.untranslated, time: { _ in "" }, fullDate: { _ in "" })
        #expect(text.title(ofCodeIn: "swift") == "swift" && text.title(ofCodeIn: nil) == "Code")
    }

    @Test("The search count shows the current match and whether there may be more")
    func searchCounts() {
        let text = SearchText(Self.wording)
        var state = RoomSearchViewModel.State()
        #expect(text.count(state) == "")
        _ = state.field.apply(.open, now: Fixtures.date)
        _ = state.field.apply(.type("x"), now: Fixtures.date)
        #expect(text.count(state) == nil, "it is still searching, so the previous count stays")
        state.field.isSearching = false
        #expect(text.count(state) == "No results")
        (state.matches, state.current) = ([MessageID("a"), MessageID("b")], 1)
        #expect(text.count(state) == "2 of 2")
        state.field.hasMore = true
        #expect(text.count(state) == "2 of 2+")
    }

    @Test("Only the first problem of a query is shown, in preference to an error")
    func searchProblems() {
        let text = SearchText(Self.wording)
        #expect(
            text.text(for: [.unknownSender("ann"), .unknownRoom("x")], .unreachable) == "No one named “ann”")
        #expect(text.text(for: [], .unreachable) == "Could not search messages")
        #expect(text.text(for: [], nil).isEmpty)
    }

    @Test("Items skipped by an import are listed by frequency, with shortened names")
    func skippedItems() {
        let report = ImportReport(
            conversations: [],
            skippedItems: [.strayLine: 1, .event(String(repeating: "x", count: 50) + "\n"): 3])
        let text = TransferText(Self.wording)
        #expect(
            text.report(.imported(report))?.split(separator: "\n") == [
                "Skipped items:", "3 × unsupported event (\(String(repeating: "x", count: 40)))",
                "1 × unrecognized line",
            ])
        #expect(text.report(.imported(ImportReport(conversations: []))) == nil)
        #expect(text.report(.cancelled) == nil)
    }

    @Test("An export says how many files it lacks, and that messages do if the server could not be reached")
    func incompleteExport() {
        var report = ExportReport(folder: URL(filePath: "/somewhere"), messages: 3, files: 1, missingFiles: 2)
        (report.unloadedFiles, report.startDate) = (1, Fixtures.date)
        #expect(
            TransferText(Self.wording).body(.exported(report)).split(separator: "\n") == [
                "3 messages", "1 file", "2 files are no longer available",
                "1 file could not be loaded because the server could not be reached",
                "Messages before a date are missing because the server could not be reached.", "/somewhere",
            ])
    }

    @Test("A user search shows a failure, or after its end that no one was found")
    func userSearches() {
        let text = UserSearchText(Self.wording)
        var state = UserSearchViewModel.State()
        #expect(text.status(state).isEmpty, "nothing was searched for")
        (state.query, state.isSearching) = ("ann", true)
        #expect(text.status(state).isEmpty)
        state.isSearching = false
        #expect(text.status(state) == "No people found")
        state.error = .unreachable
        #expect(text.status(state) == "Could not connect to the server")
        #expect(text.removal(of: User(id: MemberID("@ann:a"), name: "Ann")) == "Remove Ann")
    }

    @Test("An edit history shows when each version was written, and describes its changes")
    func history() {
        let original = MessageVersion(writtenAt: Fixtures.date, segments: [.init("tea at four", .unchanged)])
        let edit = MessageVersion(
            writtenAt: Fixtures.date,
            segments: [.init("tea at", .unchanged), .init("four", .removed), .init("five", .added)])
        let entries = HistoryText(Self.wording).entries([edit, original])
        #expect(entries.map(\.title) == ["Edited a date", "Sent a date"])
        #expect(entries.map(\.accessibleText) == ["tea at Removed: four. Added: five.", "tea at four"])
        #expect(entries.map(\.version) == [edit, original])
    }

    @Test("An inviter is named with the Matrix ID, as display names can be forged")
    func inviterIsNamedWithMatrixID() {
        let text = InvitationText(Self.wording)
        let invitation = Invitation(
            room: RoomID("a"), inviter: MemberID("@ann:x"), inviterName: "Ann", isDirect: true,
            receivedAt: Fixtures.date)
        #expect(text.inviter(of: invitation) == "Ann (@ann:x) wants to chat with you.")
    }

    @Test("A rate limit is shown with the time to wait, rounded up")
    func rateLimitShowsTheTimeToWait() {
        let text = SignInText(Self.wording)
        #expect(
            text.text(for: SignInProblem.tooOften(wait: .milliseconds(500)))
                == "Too many attempts. Try again in 1 second.")
        #expect(text.text(for: SignInProblem.tooOften(wait: nil)) == "Too many attempts. Try again later.")
    }

    @Test("The account button mentions unread messages in other accounts")
    func unreadElsewhere() {
        let text = AccountText(Self.wording)
        let account = Account(id: "@ann:x", kind: "matrix", server: "https://x", device: "D", name: "ann")
        func row(_ account: Account?, unread: Int = 0, isSelected: Bool = false) -> AccountsCoordinator.Row {
            AccountsCoordinator.Row(
                id: account?.id ?? "", name: account?.name ?? "", account: account, condition: .online,
                unreadCount: unread, isSelected: isSelected)
        }
        #expect(
            text.accessibleText(of: row(account)) == "ann, @ann:x"
                && text.accessibleText(of: row(nil)) == "This Computer")
        #expect(
            text.accessibleText(of: AccountList([row(nil, unread: 1, isSelected: true), row(account)]))
                == "Account: This Computer")
        #expect(
            text.accessibleText(of: AccountList([row(nil, isSelected: true), row(account, unread: 1)]))
                == "Account: This Computer, unread messages in another account")
    }
}
