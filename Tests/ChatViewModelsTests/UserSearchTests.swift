import ChatCore
import ChatTestSupport
import ChatViewModels
import Testing

/// Searching users, creating rooms with them and inviting them.
@MainActor @Suite(.timeLimit(.minutes(10))) struct UserSearchTests {
    private nonisolated static let ann = User(id: MemberID("@ann:a"), name: "Ann")
    private nonisolated static let bo = User(id: MemberID("@bo:a"), name: "Bo")

    @Test func resultsAreOfTheLatestQuery() async {
        let gate = Gate()
        let service = FakeUserDirectory { call in
            if call == .search("a") { await gate.pass() }
            return call == .search("a") ? [Self.bo] : [Self.ann]
        }
        let search = UserSearchViewModel(service: service)
        search.send(.search("a"))
        await eventually { gate.waiting == 1 }
        for text in ["an", "ann", " ann "] { search.send(.search(text)) }
        #expect(search.state.isSearching && search.state.query == "ann")
        gate.open()
        await eventually { !search.state.isSearching }
        #expect(search.state.found == [Self.ann])
        #expect(service.calls == [.search("a"), .search("ann")], "what nobody waits for is not asked")
        search.send(.search(" "))
        #expect(search.state.found.isEmpty && !search.state.isEmpty)
    }

    @Test func excludesMembersAndOffersTypedMatrixIDs() async {
        let service = FakeUserDirectory { call in
            if call == .search("@carl:b") { throw ChatError.unreachable }
            return call == .search("nobody") ? [] : [Self.ann, Self.bo]
        }
        let search = UserSearchViewModel(service: service, excluding: [Self.bo.id])
        search.send(.search("b"))
        await eventually { !search.state.isSearching }
        #expect(search.state.found == [Self.ann])
        search.send(.search("@carl:b"))
        await eventually { search.state.found == [User(id: MemberID("@carl:b"))] }
        #expect(search.state.error == nil)
        search.send(.search("nobody"))
        await eventually { search.state.isEmpty }
    }

    @Test func usersAreChosenAndRemoved() async {
        let search = UserSearchViewModel(service: FakeUserDirectory { _ in [Self.ann] })
        search.send(.chooseFirst)
        #expect(search.state.chosen.isEmpty)
        search.send(.search("a"))
        await eventually { !search.state.found.isEmpty }
        search.send(.chooseFirst)
        search.send(.toggle(Self.bo))
        #expect(search.state.chosen == [Self.ann, Self.bo] && search.state.isChosen(Self.ann))
        search.send(.toggle(Self.ann))
        search.send(.removeLast)
        search.send(.removeLast)
        #expect(search.state.chosen.isEmpty)
    }

    @Test("Choosing a result clears the field for the next name; Backspace there removes the last one")
    func choosingClearsTheField() async {
        let search = UserSearchViewModel(service: FakeUserDirectory { _ in [Self.ann, Self.bo] })
        search.send(.search(" b "))
        #expect(search.state.text == " b " && search.state.query == "b")
        await eventually { !search.state.isSearching }
        search.send(.choose(Self.bo))
        #expect(search.state.chosen == [Self.bo] && search.state.text.isEmpty && search.state.found.isEmpty)
        #expect(search.state.canRemoveLast)
        search.send(.search(" "))
        #expect(!search.state.canRemoveLast, "Backspace deletes what is in the field first")
        search.send(.search(""))
        search.send(.removeLast)
        #expect(search.state.chosen.isEmpty && !search.state.canRemoveLast)
    }

    @Test("Return chooses the first result for the typed text, and waits for a running search")
    func choosingTheFirstWaits() async {
        let gate = Gate()
        let service = FakeUserDirectory { call in
            guard call == .search("bo") else { return [Self.ann] }
            await gate.pass()
            return [Self.bo]
        }
        let search = UserSearchViewModel(service: service)
        search.send(.search("b"))
        await eventually { search.state.found == [Self.ann] && !search.state.isSearching }
        search.send(.search("bo"))
        search.send(.chooseFirst)
        #expect(search.state.chosen.isEmpty, "the results are of an earlier text")
        gate.open()
        await eventually { search.state.chosen == [Self.bo] }
        #expect(search.state.text.isEmpty && search.state.found.isEmpty)
    }

    @Test("Return has no effect if the text changes before the results arrive")
    func typingCancelsChoosing() async {
        let gate = Gate()
        let service = FakeUserDirectory { _ in
            await gate.pass()
            return [Self.ann]
        }
        let search = UserSearchViewModel(service: service)
        search.send(.search("a"))
        search.send(.chooseFirst)
        search.send(.search("an"))
        gate.open()
        await eventually { search.state.found == [Self.ann] && !search.state.isSearching }
        #expect(search.state.chosen.isEmpty && search.state.text == "an")
    }

    @Test func failedInviteesStayChosen() async {
        let service = FakeUserDirectory { call in
            if call == .invite("@bo:a") { throw ChatError.notPermitted }
            return []
        }
        let done = Recorder<[User]>()
        let invite = InviteViewModel(room: RoomID("room"), service: service, onDone: { done.record($0) })
        invite.send(.invite)
        #expect(!invite.canInvite && !invite.state.isInviting)
        invite.userSearch.send(.toggle(Self.ann))
        invite.userSearch.send(.toggle(Self.bo))
        invite.send(.invite)
        #expect(invite.state.isInviting && !invite.canInvite)
        await eventually { !invite.state.isInviting }
        #expect(service.calls == [.invite("@ann:a"), .invite("@bo:a")])
        #expect(invite.userSearch.state.chosen == [Self.bo] && invite.state.error == .notPermitted)
        #expect(done.values == [[Self.ann]] && !invite.state.isDone)
        invite.send(.invite)
        await eventually { !invite.state.isInviting }
        #expect(service.calls.count == 3 && service.calls.last == .invite("@bo:a"))
        #expect(done.values == [[Self.ann]] && !invite.state.isDone, "nobody was invited")
    }

    @Test("Who is chosen while others are invited stays chosen, and who is removed meanwhile does not come back")
    func choosingDuringTheInvitation() async {
        let gate = Gate()
        let service = FakeUserDirectory { call in
            await gate.pass()
            if call == .invite("@bo:a") { throw ChatError.notPermitted }
            return []
        }
        let carl = User(id: MemberID("@carl:a"), name: "Carl")
        let done = Recorder<[User]>()
        let invite = InviteViewModel(room: RoomID("room"), service: service, onDone: { done.record($0) })
        for user in [Self.ann, Self.bo] { invite.userSearch.send(.toggle(user)) }
        invite.send(.invite)
        await eventually { gate.waiting == 1 }
        invite.userSearch.send(.toggle(carl))
        invite.userSearch.send(.toggle(Self.bo))
        gate.open()
        await eventually { !invite.state.isInviting }
        #expect(invite.userSearch.state.chosen == [carl])
        #expect(invite.state.error == .notPermitted && !invite.state.isDone)
        #expect(done.values == [[Self.ann]])
        invite.send(.invite)
        await eventually { done.values == [[Self.ann], [carl]] && invite.state.isDone }
    }

    @Test("Who was invited while others could not be is no longer offered")
    func invitedUsersAreNotOffered() async {
        let service = FakeUserDirectory { call in
            if call == .invite("@bo:a") { throw ChatError.notPermitted }
            return [Self.ann, Self.bo]
        }
        let invite = InviteViewModel(room: RoomID("room"), service: service)
        let search = invite.userSearch
        search.send(.search("a"))
        await eventually { search.state.found == [Self.ann, Self.bo] }
        for user in [Self.ann, Self.bo] { search.send(.toggle(user)) }
        invite.send(.invite)
        await eventually { invite.state.error == .notPermitted && !invite.state.isInviting }
        #expect(search.state.found == [Self.bo])
        search.send(.toggle(Self.ann))
        #expect(search.state.chosen == [Self.bo], "a row that is still displayed chooses nobody")
        search.send(.search("@ann:a"))
        await eventually { search.state.query == "@ann:a" && !search.state.isSearching }
        #expect(search.state.found == [Self.bo], "not even by the complete Matrix ID")
    }

    @Test func roomIsCreatedFromTheTypedFields() async {
        let service = FakeUserDirectory()
        let made = Recorder<RoomID>()
        let room = NewRoomViewModel(
            service: service, ownUserID: MemberID("@me:example.org"), onCreated: { made.record($0) })
        #expect(room.state.server == ":example.org" && !room.state.canCreate)
        room.send(.name("Über den Garten, 2"))
        #expect(room.state.address == "uber-den-garten-2" && room.state.canCreate)
        room.send(.topic(" Beds \n borders "))
        room.userSearch.send(.toggle(Self.ann))
        room.send(.create)
        #expect(room.state.isCreating && !room.state.canCreate)
        room.send(.create)
        await eventually { !made.values.isEmpty && room.state.isCreated }
        #expect(
            service.calls == [
                .create(RoomRequest(name: "Über den Garten, 2", topic: "Beds borders", invitees: [Self.ann.id]))
            ])
    }

    @Test("A user whom Return is to choose from the results is invited to the new room, however late these arrive")
    func creationWaitsForTheChoice() async {
        let gate = Gate()
        let service = FakeUserDirectory { call in
            guard call == .search("bo") else { return [] }
            await gate.pass()
            return [Self.bo]
        }
        let room = NewRoomViewModel(service: service, ownUserID: nil)
        room.send(.name("Garden"))
        room.userSearch.send(.search("bo"))
        room.userSearch.send(.chooseFirst)
        await eventually { gate.waiting == 1 }
        room.send(.create)
        #expect(room.state.isCreating)
        gate.open()
        await eventually { room.state.isCreated }
        #expect(service.calls == [.search("bo"), .create(RoomRequest(name: "Garden", invitees: [Self.bo.id]))])
    }

    /// Closing the dialog during a request cancels the navigation; failures are still reported.
    @Test func failuresAreReportedAfterClosingTheDialog() async {
        let gate = Gate()
        let service = FakeUserDirectory { _ in
            await gate.pass()
            throw ChatError.notPermitted
        }
        let reported = Recorder<ChatError>()
        var room: NewRoomViewModel? = NewRoomViewModel(
            service: service, ownUserID: nil, onCreated: { _ in Issue.record("it was made") },
            onFailure: { reported.record($0) })
        room?.send(.name("Garden"))
        room?.send(.create)
        var invite: InviteViewModel? = InviteViewModel(
            room: RoomID("room"), service: service, onFailure: { reported.record($0) })
        invite?.userSearch.send(.toggle(Self.ann))
        invite?.send(.invite)
        await eventually { gate.waiting == 2 }
        room?.abandon()
        invite?.abandon()
        (room, invite) = (nil, nil)
        gate.open()
        await eventually { reported.values == [.notPermitted, .notPermitted] }
    }

    @Test func roomCreatedAfterClosingIsNotOpened() async {
        let gate = Gate()
        let service = FakeUserDirectory { _ in
            await gate.pass()
            return []
        }
        let room = NewRoomViewModel(
            service: service, ownUserID: nil, onCreated: { _ in Issue.record("nobody waits for it") })
        room.send(.name("Garden"))
        room.send(.create)
        await eventually { gate.waiting == 1 }
        room.abandon()
        gate.open()
        await eventually { !room.state.isCreating }
    }

    @Test func publicRoomRequiresAnAddress() async {
        let service = FakeUserDirectory { _ in throw ChatError.rejected(reason: "taken") }
        let room = NewRoomViewModel(service: service, ownUserID: nil)
        room.send(.name("日本"))
        #expect(room.state.address.isEmpty && room.state.canCreate)
        room.send(.setPublic(true))
        #expect(!room.state.canCreate)
        for wrong in ["a b", "ä", "a:b", "#a", String(repeating: "a", count: 101)] {
            room.send(.address(wrong))
            #expect(!room.state.canCreate, "\(wrong)")
        }
        room.send(.address("japan"))
        room.send(.name("Japan!"))
        #expect(room.state.address == "japan" && room.state.canCreate, "what was typed stays")
        room.send(.create)
        await eventually { room.state.error == .rejected(reason: "taken") }
        #expect(room.state.canCreate, "and can be tried again")
    }
}
