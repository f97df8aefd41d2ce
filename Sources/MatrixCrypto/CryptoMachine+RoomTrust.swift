public import ChatCore

/// What the user is warned of before writing into a room.
extension CryptoMachine {
    /// The readers of a room whose identity is missing or has changed: those who hold up its messages, and more while
    /// not all readers are known. Once all are, they are gone through again only after something has changed: this is
    /// asked after each change of anything, and a room may have thousands of readers.
    /// - Parameter present: Returns the members according to the history, which lacks invited users and those not loaded
    ///   yet. Only used while the list that sending requires is incomplete.
    public func trust(
        in room: ExactText, present: @Sendable () async throws -> [ExactText]
    ) async throws -> RoomTrust {
        try await change { state, _ in
            if let known = state.trusts[room], known.revisions == state.revisions(of: room) { return known.trust }
            let readers = try await readers(of: room, present: present, &state)
            state.tracker.track(readers)
            let revisions = state.revisions(of: room)
            let trust = try await trust(among: readers, &state)
            state.trusts[room] = revisions.map { (revisions: $0, trust: trust) }
            return trust
        }
    }

    private func trust(among readers: [ExactText], _ state: inout State) async throws -> RoomTrust {
        let identities = try await Identity.stored(readers, in: storage)
        var trust = RoomTrust()
        for member in readers {
            let id = MemberID(member.text)
            guard let identity = identities[member] else {
                if member != user, state.tracker.isOutdated(member) == false { trust.withoutIdentity.append(id) }
                continue
            }
            if member == user {
                // One's own identity is not accepted as another user's is: it has to confirm this device.
                trust.isOwnReplaced = identity.isOwnReplaced
                continue
            }
            if identity.isUnknown { state.tracker.noteDamagedIdentity(of: member) }
            if identity.hasChangedAfterVerification { trust.holding.append(id) }
            if identity.hasChanged { trust.changed.append(id) }
        }
        return trust
    }

    private func readers(
        of room: ExactText, present: @Sendable () async throws -> [ExactText], _ state: inout State
    ) async throws -> [ExactText] {
        guard var audience = state.audiences[room] else { return [user] + (try await present()).filter { $0 != user } }
        try await audience.load(room, from: storage)
        state.audiences[room] = audience
        let readers = audience.readers(with: user)
        if audience.isWhole { return readers }
        let known = Set(readers)
        return readers + (try await present()).filter { !known.contains($0) }
    }
}

extension CryptoMachine.State {
    /// The revisions of what determines the warnings about a room's readers; `nil` while not all of these are known.
    fileprivate func revisions(of room: ExactText) -> OutboundRoom.Stamp? {
        guard let audience = audiences[room], audience.isWhole else { return nil }
        return OutboundRoom.Stamp(devices: tracker.revision, audience: audience.generation)
    }
}
