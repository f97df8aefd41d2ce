import CGtk
import ChatCore
import ChatTestSupport
import GtkTestSupport
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// User search dialogs, driven by real keys until they are finalized.
final class UserDialogTests: GtkTestCase {
    private static let ann = User(id: MemberID("@ann:example.org"), name: "Ann <1>")
    private static let bo = User(id: MemberID("@bo:example.org"), name: "Bo")

    @MainActor
    private static var pictures: AvatarLoader { AvatarLoader(service: FakeMediaService()) }

    /// Presents a dialog over a window, runs the steps, closes it, and waits until it is finalized.
    @MainActor
    private static func use(
        _ present: @MainActor (Widget) -> Dialog, _ steps: @MainActor (Dialog) throws -> Void
    ) throws {
        try Resource.load()
        Resource.loadStyle()
        let parent = TestWindow(Label("behind"), width: 600, height: 700)
        var isGone = false
        let closures = ClosureCount.live
        do {
            let dialog = present(parent.window)
            dialog.onFinalize { isGone = true }
            XCTAssertTrue(MainLoop.pump { dialog.isMapped && dialog.width > 0 })
            try RealInput.activate(dialog)
            try steps(dialog)
            if dialog.isMapped { dialog.close() }
        }
        XCTAssertTrue(MainLoop.pump { isGone }, "the dialog is finalised")
        XCTAssertTrue(MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures)")
        parent.close()
    }

    func testUsersAreSearchedSelectedAndInvited() throws {
        try onMain {
            let service = FakeUserDirectory { call in call == .search("bo") ? [Self.bo] : [Self.ann, Self.bo] }
            let viewModel = InviteViewModel(room: RoomID("room"), service: service)
            try Self.use({ InviteDialog.present(viewModel, over: $0, avatarLoader: Self.pictures) }) { dialog in
                XCTAssertEqual(dialog.button("Invite")?.isSensitive, false)
                try RealInput.type("a")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Ann <1>") }, "\(dialog.visibleTexts)")
                XCTAssertTrue(dialog.visibleTexts.contains("@ann:example.org"))
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen == [Self.ann] }, "the first is taken")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts == dialog.visibleTexts.filter { $0 != "Bo" } })
                try RealInput.type("bo")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.found == [Self.bo] })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen.count == 2 })
                try RealInput.press("BackSpace")
                XCTAssertTrue(MainLoop.pump { viewModel.userSearch.state.chosen == [Self.ann] }, "the last is let go")
                XCTAssertTrue(MainLoop.pump { dialog.button("Invite")?.isSensitive == true })
                try XCTUnwrap(dialog.button("Invite")).activate()
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped }, "it closes when all are asked")
                XCTAssertEqual(service.calls.last, .invite("@ann:example.org"))
            }
        }
    }

    func testNewChatStartsWithTheChosenUser() throws {
        try onMain {
            let service = FakeUserDirectory { _ in [Self.bo] }
            var chosen: [User] = []
            try Self.use({ parent in
                NewChatDialog.present(UserSearchViewModel(service: service), over: parent, avatarLoader: Self.pictures)
                {
                    chosen.append($0)
                }
            }) { dialog in
                try RealInput.type("bo")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Bo") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { chosen == [Self.bo] && !dialog.isMapped })
            }
        }
    }

    func testRoomsNotificationsAreChosenAndShownAsTheServerSays() throws {
        try onMain {
            let service = ServerRoom()
            let viewModel = RoomDetailsViewModel(room: RoomID("room"), name: "Garden", service: service)
            let rules: [RoomNotificationRule?] = [nil, .all, .mentions, .nothing]
            try Self.use({
                RoomDetailsDialog.present(viewModel, over: $0, avatarLoader: Self.pictures, leave: {})
            }) { dialog in
                let row = try XCTUnwrap(
                    dialog.descendants.first {
                        $0.isInstance(of: adw_combo_row_get_type()) && $0.visibleTexts.first == "Notifications"
                    })
                let shown = { Int(adw_combo_row_get_selected(row.cast())) }
                XCTAssertEqual(shown(), 0)
                service.publish(.mentions)
                XCTAssertTrue(MainLoop.pump { shown() == 2 }, "\(shown())")
                XCTAssertTrue(service.rules.isEmpty, "what the server says is not sent back")
                for index in [3, 1, 0] {
                    adw_combo_row_set_selected(row.cast(), guint(index))
                    XCTAssertTrue(MainLoop.pump { service.rules.last == rules[index] }, "\(index)")
                }
                XCTAssertEqual(service.rules, [.nothing, .all, nil])
                service.fails = true
                adw_combo_row_set_selected(row.cast(), 3)
                XCTAssertTrue(MainLoop.pump { viewModel.state.error == .unreachable && shown() == 0 }, "as before")
            }
        }
    }

    func testRoomDetailsShowWhyAChangeFailed() throws {
        try onMain {
            let service = ServerRoom()
            let viewModel = RoomDetailsViewModel(room: RoomID("room"), name: "Garden", service: service)
            try Self.use({
                RoomDetailsDialog.present(viewModel, over: $0, avatarLoader: Self.pictures, leave: {})
            }) { dialog in
                let shown = { (text: String) in dialog.visibleTexts.contains { $0.hasPrefix(text) } }
                viewModel.send(.rename("   "))
                XCTAssertTrue(MainLoop.pump { shown("Enter a room name with up to") }, "\(dialog.visibleTexts)")
                service.fails = true
                viewModel.send(.notify(.all))
                XCTAssertTrue(MainLoop.pump { shown("Could not connect to the server") }, "\(dialog.visibleTexts)")
                XCTAssertFalse(shown("Enter a room name with up to"))
                service.fails = false
                viewModel.send(.notify(.all))
                XCTAssertTrue(MainLoop.pump { !shown("Could not connect to the server") })
            }
        }
    }

    func testWhatIsTypedWhileTheTopicIsSentStays() throws {
        try onMain {
            let service = ServerRoom()
            let viewModel = RoomDetailsViewModel(room: RoomID("room"), name: "Garden", service: service)
            try Self.use({
                RoomDetailsDialog.present(viewModel, over: $0, avatarLoader: Self.pictures, leave: {})
            }) { dialog in
                XCTAssertTrue(MainLoop.pump { viewModel.state.canSetTopic && dialog.visibleTexts.contains("Topic") })
                let row = try XCTUnwrap(
                    dialog.descendants.first {
                        $0.isInstance(of: adw_entry_row_get_type()) && $0.visibleTexts.contains("Topic")
                    })
                let entry = OpaquePointer(row.pointer)
                let shown = { String(cString: gtk_editable_get_text(entry)) }
                gtk_editable_set_text(entry, "Herbs")
                viewModel.send(.setTopic("Herbs"))
                XCTAssertTrue(MainLoop.pump { service.topics == ["Herbs"] })
                gtk_editable_set_text(entry, "Herbs and trees")
                service.accepted.continuation.yield()
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Herbs") })
                XCTAssertEqual(shown(), "Herbs and trees")
            }
        }
    }

    func testEncryptionIsTurnedOnAfterAQuestion() throws {
        try onMain {
            let service = ServerRoom()
            let viewModel = RoomDetailsViewModel(
                room: RoomID("room"), name: "Garden", service: service, encryption: .on)
            try Self.use({
                RoomDetailsDialog.present(viewModel, over: $0, avatarLoader: Self.pictures, leave: {})
            }) { dialog in
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Not Encrypted") }, "\(dialog.visibleTexts)")
                for (answer, count) in [("Cancel", 0), ("Turn On", 1)] {
                    try XCTUnwrap(dialog.button("Turn On…")).activate()
                    XCTAssertTrue(MainLoop.pump { OpenDialogs.alert?.isMapped == true })
                    let question = try XCTUnwrap(OpenDialogs.alert)
                    XCTAssertTrue(question.visibleTexts.contains("Turn On Encryption?"))
                    try XCTUnwrap(question.button(answer)).activate()
                    XCTAssertTrue(MainLoop.pump { !question.isMapped && service.encryptions == count }, answer)
                }
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Encrypted") })
                XCTAssertNil(dialog.button("Turn On…"), "it cannot be turned off")
            }
        }
    }

    func testMembersKeepTheFocusWhenTheyChange() throws {
        try onMain {
            let service = ServerRoom()
            var members = ["Ann", "Bo", "Carl"].map {
                Member(id: MemberID("@\($0):example.org"), displayName: $0, kind: .person)
            }
            service.entries = members.map { RoomMembers.Entry($0, canBeRemoved: true) }
            let viewModel = RoomDetailsViewModel(room: RoomID("room"), name: "Garden", service: service)
            try Self.use({
                RoomDetailsDialog.present(viewModel, over: $0, avatarLoader: Self.pictures, leave: {})
            }) { dialog in
                let button = { (member: Member) -> Widget? in
                    let label = "Remove \(member.displayName)"
                    return dialog.descendants.first { $0.isMapped && $0.tooltip == label }
                }
                XCTAssertTrue(MainLoop.pump { button(members[2]) != nil }, "\(dialog.visibleTexts)")
                let second = try XCTUnwrap(button(members[1]))
                XCTAssertTrue(second.grabFocus())
                members[0].displayName = "Anna"
                service.publish(.membersChanged([members[0]]))
                XCTAssertTrue(MainLoop.pump { button(members[0]) != nil })
                XCTAssertTrue(second.isFocus, "another member has changed")
                members[1].displayName = "Bob"
                service.publish(.membersChanged([members[1]]))
                XCTAssertTrue(MainLoop.pump { button(members[1]) != nil })
                XCTAssertTrue(button(members[1])?.isFocus == true)
                members[1].hasLeft = true
                service.publish(.membersChanged([members[1]]))
                XCTAssertTrue(MainLoop.pump { button(members[1]) == nil })
                XCTAssertTrue(button(members[2])?.isFocus == true, "the next one")
            }
        }
    }

    func testReactionsWithoutEncryptionAreExplained() throws {
        try onMain {
            for (isRejected, answer, expected) in [
                (false, "React", ReactionQuestion.Answer.react), (false, "Cancel", .cancel), (true, "Cancel", .never),
            ] {
                var answers: [ReactionQuestion.Answer] = []
                let question = ReactionQuestion(message: MessageID("m"), reaction: "👍")
                try Self.use({ ReactionDialog.present(question, over: $0) { answers.append($0) } }) { dialog in
                    let choice = try XCTUnwrap(
                        dialog.descendants.first { $0.isInstance(of: gtk_check_button_get_type()) })
                    if isRejected { gtk_check_button_set_active(choice.cast(), 1) }
                    XCTAssertEqual(dialog.button("React")?.isSensitive, !isRejected)
                    try XCTUnwrap(dialog.button(answer)).activate()
                    XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                }
                XCTAssertEqual(answers, [expected])
            }
        }
    }

    func testEncryptionOfANewRoomIsChosen() throws {
        try onMain {
            let service = FakeUserDirectory()
            let viewModel = NewRoomViewModel(
                service: service, ownUserID: MemberID("@me:example.org"), encryption: { .on })
            try Self.use({ NewSharedRoomDialog.present(viewModel, over: $0, avatarLoader: Self.pictures) }) { dialog in
                let row = try XCTUnwrap(
                    dialog.descendants.first {
                        $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.first == "Encrypted"
                    })
                let control = try XCTUnwrap(row.descendants.first { $0.isInstance(of: gtk_switch_get_type()) })
                let isOn = { gtk_switch_get_active(control.cast()) != 0 }
                XCTAssertTrue(MainLoop.pump { isOn() && row.isSensitive })
                viewModel.send(.setPublic(true))
                XCTAssertTrue(MainLoop.pump { !isOn() && !row.isSensitive }, "public rooms are not")
                viewModel.send(.setPublic(false))
                XCTAssertTrue(MainLoop.pump { isOn() && row.isSensitive }, "the choice stays")
                gtk_switch_set_active(control.cast(), 0)
                try RealInput.type("Garden")
                XCTAssertTrue(MainLoop.pump { dialog.button("Create")?.isSensitive == true })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
                XCTAssertEqual(service.calls, [.create(RoomRequest(name: "Garden", isEncrypted: false))])
            }
        }
    }

    /// A room on a server with push rules.
    private final class ServerRoom: RoomService, TimelineService, RoomCapabilityService, RoomMembersService,
        NotificationSettingsService, @unchecked Sendable
    {
        let capabilities: BackendCapabilities = [.notificationSettings, .memberList, .topic]
        var encryptions = 0
        private(set) var topics: [String?] = []
        /// Each accepts a topic.
        let accepted = AsyncStream.makeStream(of: Void.self)
        private let room = FakeRoomService()
        private let timeline = FakeTimelineService()
        private let settings = AsyncStream.makeStream(of: NotificationSettings.self)
        /// The rules set, in order. Used on the main thread only, from which this test makes all calls.
        private(set) var rules: [RoomNotificationRule?] = []
        var fails = false
        var entries: [RoomMembers.Entry] = []

        func publish(_ update: TimelineUpdate) { timeline.publish(update) }

        func publish(_ rule: RoomNotificationRule) {
            settings.continuation.yield(NotificationSettings(rooms: [RoomID("room"): rule]))
        }

        func notificationSettings() -> AsyncStream<NotificationSettings> { settings.stream }

        func setNotificationRule(_ rule: RoomNotificationRule?, of room: RoomID) async throws {
            if fails { throw ChatError.unreachable }
            rules.append(rule)
        }

        func members(of room: RoomID) async throws -> RoomMembers {
            RoomMembers(entries: entries, permissions: [.encrypt, .setTopic])
        }
        func topic(of room: RoomID) async throws -> String? { nil }
        func setTopic(_ topic: String?, of room: RoomID) async throws {
            topics.append(topic)
            for await _ in accepted.stream { return }
        }
        func enableEncryption(in room: RoomID) async throws { encryptions += 1 }

        func roomSummaries() -> AsyncStream<[RoomSummary]> { room.roomSummaries() }
        func createRoom(named name: String) async throws -> RoomID { try await room.createRoom(named: name) }
        func renameRoom(_ id: RoomID, to name: String) async throws { try await room.renameRoom(id, to: name) }
        func leaveRoom(_ id: RoomID) async throws { try await room.leaveRoom(id) }
        func removeMember(_ member: MemberID, from id: RoomID) async throws {
            try await room.removeMember(member, from: id)
        }
        func setMarkedUnread(_ isMarked: Bool, in id: RoomID) async throws {
            try await room.setMarkedUnread(isMarked, in: id)
        }
        func markAllRead(in id: RoomID) async throws { try await room.markAllRead(in: id) }
        func timeline(of id: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
            timeline.timeline(of: id, limit: limit)
        }
        func messages(in id: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
            try await timeline.messages(in: id, before: position, limit: limit)
        }
        func messages(in id: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
            try await timeline.messages(in: id, after: position, limit: limit)
        }
        func messages(in id: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
            try await timeline.messages(in: id, around: target, limit: limit)
        }
        func messages(_ ids: [MessageID], in id: RoomID) async throws -> [Message] { [] }
        func markRead(_ message: MessageID, in id: RoomID) async throws {}
    }

    /// What was found is shown a little later, and a click may come before.
    func testClickChoosesTheUserThatIsShown() throws {
        try onMain {
            try Resource.load()
            let viewModel = UserSearchViewModel(service: FakeUserDirectory { _ in [Self.ann, Self.bo] })
            let picker = UserPicker(viewModel, avatarLoader: Self.pictures)
            let window = TestWindow(picker.widget, width: 360, height: 500)
            viewModel.send(.search("b"))
            XCTAssertTrue(MainLoop.pump { picker.widget.visibleTexts.contains("Bo") })
            let row = try XCTUnwrap(
                picker.widget.descendants.first {
                    $0.isInstance(of: adw_action_row_get_type()) && $0.visibleTexts.contains("Bo")
                })
            viewModel.send(.search(""))
            XCTAssertEqual(viewModel.state.found, [])
            row.activate()
            XCTAssertEqual(viewModel.state.chosen, [Self.bo])
            row.activate()
            XCTAssertEqual(viewModel.state.chosen, [Self.bo], "a second click does not undo the choice")
            withExtendedLifetime(picker) { window.close() }
        }
    }

    /// Return ignores results of an earlier, shorter query.
    func testReturnWaitsForTheCurrentQuery() throws {
        try onMain {
            let (isReturnPressed, pressReturn) = AsyncStream.makeStream(of: Void.self)
            let service = FakeUserDirectory { call in
                guard call == .search("bo") else { return [Self.ann] }
                for await _ in isReturnPressed { break }
                return [Self.bo]
            }
            var chosen: [User] = []
            try Self.use({ parent in
                NewChatDialog.present(UserSearchViewModel(service: service), over: parent, avatarLoader: Self.pictures)
                {
                    chosen.append($0)
                }
            }) { dialog in
                try RealInput.type("b")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains("Ann <1>") })
                try RealInput.type("o")
                XCTAssertTrue(MainLoop.pump { service.calls.last == .search("bo") })
                try RealInput.press("Return")
                XCTAssertTrue(chosen.isEmpty, "the result of the shorter query is not taken")
                pressReturn.yield()
                XCTAssertTrue(MainLoop.pump { !chosen.isEmpty && !dialog.isMapped })
                XCTAssertEqual(chosen, [Self.bo])
            }
        }
    }

    func testRoomIsCreatedByKeyboard() throws {
        try onMain {
            let service = FakeUserDirectory { call in
                if case .create = call { throw ChatError.rejected(reason: "taken") }
                return []
            }
            let viewModel = NewRoomViewModel(service: service, ownUserID: MemberID("@me:example.org"))
            try Self.use({ NewSharedRoomDialog.present(viewModel, over: $0, avatarLoader: Self.pictures) }) { dialog in
                XCTAssertEqual(dialog.button("Create")?.isSensitive, false)
                try RealInput.type("Our garden")
                XCTAssertTrue(MainLoop.pump { dialog.button("Create")?.isSensitive == true })
                viewModel.send(.setPublic(true))
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains(":example.org") })
                try RealInput.press("Return")
                XCTAssertTrue(MainLoop.pump { dialog.visibleTexts.contains { $0.contains("taken") } })
                XCTAssertEqual(service.calls, [.create(RoomRequest(name: "Our garden", address: "our-garden"))])
                XCTAssertTrue(dialog.isMapped, "what was typed stays")
                try RealInput.press("Escape")
                XCTAssertTrue(MainLoop.pump { !dialog.isMapped })
            }
        }
    }
}
