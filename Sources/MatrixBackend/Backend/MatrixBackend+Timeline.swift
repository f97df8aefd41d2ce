public import ChatCore
import ChatStore
import Foundation

extension MatrixBackend {
    public nonisolated func timeline(of room: RoomID, limit: Int) -> AsyncStream<TimelineUpdate> {
        let (stream, continuation) = AsyncStream.makeStream(of: TimelineUpdate.self, bufferingPolicy: .unbounded)
        Task { await observe(room, limit: limit, with: continuation) }
        return stream
    }

    public func messages(in room: RoomID, before position: Int64, limit: Int) async throws -> TimelinePage {
        var fills = 0
        while true {
            let whole = try await store.messages(in: room, before: position, limit: limit)
            let gaps = try await store.gaps(in: room)
            let page = whole.after(gaps.last { $0.position <= position })
            let gap = gaps.last { $0.position <= page.messages.first?.position ?? position }
            // The page is complete, has no gap before it, or the limit of requests is reached.
            guard page.messages.count < limit, limit > 0, let gap, fills < Self.maxFills else {
                return withLocalEchoes(page, in: room, before: position)
            }
            fills += 1
            do {
                try await fill(gap, in: room)
            } catch {
                // Return the stored messages; the gap is requested again with the next page.
                guard !page.messages.isEmpty else { throw ChatError.translated(error) }
                return withLocalEchoes(page, in: room, before: position)
            }
        }
    }

    public func messages(in room: RoomID, after position: Int64, limit: Int) async throws -> TimelinePage {
        for _ in 0..<Self.maxFills {
            let whole = try await store.messages(in: room, after: position, limit: limit)
            let gaps = try await store.gaps(in: room)
            guard let gap = gaps.first(where: { $0.position > position }), let last = whole.messages.last,
                last.position >= gap.position
            else { return withLocalEchoes(whole, in: room, before: .max) }
            let page = whole.before(gap)
            if !page.messages.isEmpty { return withLocalEchoes(page, in: room, before: .max) }
            // The gap follows directly: fill it from its older end, or else from its newer end.
            do {
                if try await !fetchForward(gap, in: room) { try await fill(gap, in: room) }
            } catch {
                throw ChatError.translated(error)
            }
        }
        throw ChatError.storage(reason: "the history goes on for too long")
    }

    public func messages(in room: RoomID, around target: TimelineTarget, limit: Int) async throws -> TimelinePage {
        try await reach(target, in: room)
        let whole = try await store.messages(in: room, around: target, limit: limit)
        let gaps = try await store.gaps(in: room)
        var page = whole
        let middle: Int64? =
            switch target {
            case .message(let id): whole.messages.first { $0.id == id }?.position
            case .date(let date): (whole.messages.first { $0.sentAt >= date } ?? whole.messages.last)?.position
            }
        if let middle {
            page = page.after(gaps.last { $0.position <= middle })
            if let next = gaps.first(where: { $0.position > middle }) { page = page.before(next) }
        }
        return withLocalEchoes(page, in: room, before: .max)
    }

    public func fetchHistory(
        of room: RoomID, progress: @escaping @Sendable (Int) -> Void
    ) async throws -> Int64? {
        var fetched = 0
        var before: TimelineGap?
        while let gap = try await store.gaps(in: room).last {
            try Task.checkCancellation()
            // A gap that does not shrink will not shrink with another request.
            guard connection == .online, gap != before else { return gap.position }
            do {
                fetched += try await fill(gap, in: room).messages
                before = gap
            } catch MatrixError.busy(let retryAfter) {
                try await clock.sleep(for: min(retryAfter, .seconds(60)), tolerance: nil)
            } catch is CancellationError {
                throw CancellationError()
            } catch is MatrixError {
                return gap.position
            }
            progress(fetched)
        }
        return nil
    }

    public func messages(_ ids: [MessageID], in room: RoomID) async throws -> [Message] {
        let stored =
            try await store.messages(ids, in: room) + localEchoes.messages(in: room).filter { ids.contains($0.id) }
        let storedIDs = Set(stored.map(\.id))
        var found = stored.map(displayed)
        for id in ids where !storedIDs.contains(id) && LocalEchoes.transaction(of: id) == nil {
            // The replied-to message may be far before everything stored. Without it, the reply shows no excerpt.
            if let message = try? await fetch(id, in: room) { found.append(message) }
        }
        return found
    }

    public func markRead(_ message: MessageID, in room: RoomID) async throws {
        // The user's own pending message is read already.
        guard LocalEchoes.transaction(of: message) == nil else { return }
        let moved = try await serialized {
            let moved = try await store.markRead(message, in: room)
            if moved {
                try await store.setUnsentReadMarker(message, of: room)
                roomsChanged()
            }
            return moved
        }
        if moved { Task { [readMarkers] in await readMarkers.send(message, in: room) } }
    }

    public func scrollPosition(in room: RoomID) async throws -> ScrollPosition? {
        try await store.scrollPosition(in: room)
    }

    public func saveScrollPosition(_ position: ScrollPosition?, in room: RoomID) async throws {
        try await store.saveScrollPosition(position, in: room)
    }

    /// Requests a single event. The message is not stored, because its neighbors are unknown.
    private func fetch(_ id: MessageID, in room: RoomID) async throws -> Message? {
        guard let event = try await client.event(id, in: room) else { return nil }
        let parser = EventParser(ownUserID: ownUserID, translator: translator)
        let new: NewMessage
        let isDeleted: Bool
        switch parser.event(event) {
        case .message(let read): (new, isDeleted) = (read, false)
        case .deleted(let read): (new, isDeleted) = (read, true)
        case .change, .silent, .withdrawn, nil: return nil
        }
        var message = Message(
            id: id, roomID: room, sender: new.sender, text: new.text, sentAt: new.sentAt, position: .min,
            replyTo: new.replyTo, isDeleted: isDeleted, kind: new.kind, formattedText: new.formattedText,
            attachments: new.attachments,
            event: new.event)
        message.mentionsEveryone = new.mentionsEveryone
        if case .change(let change) = parser.bundledEdit(of: event), case .edit(let wording) = change.kind {
            message.edit(to: wording, at: change.at)
            message.kind = change.content?.kind ?? message.kind
            message.attachments = change.content?.attachments ?? message.attachments
        }
        return message
    }

    private func withLocalEchoes(_ page: TimelinePage, in room: RoomID, before position: Int64) -> TimelinePage {
        var page = page
        if !page.hasNewer { page.messages += localEchoes.messages(in: room).filter { $0.position < position } }
        page.messages = page.messages.map(displayed)
        return page
    }

    // MARK: Observers

    private func observe(
        _ room: RoomID, limit: Int, with continuation: AsyncStream<TimelineUpdate>.Continuation
    ) async {
        await serialized {
            guard !isClosed else { return continuation.finish() }
            do {
                guard let snapshot = try await store.snapshot(of: room, limit: limit) else {
                    continuation.yield(.closed)
                    return continuation.finish()
                }
                let gap = try await store.gaps(in: room).last
                startObserving(snapshot, behind: gap, with: continuation)
            } catch {
                continuation.finish()
            }
        }
    }

    private func startObserving(
        _ snapshot: RoomSnapshot, behind gap: TimelineGap?,
        with continuation: AsyncStream<TimelineUpdate>.Continuation
    ) {
        let room = snapshot.room.id
        continuation.yield(opening(snapshot, behind: gap))
        let token = timelines[room, default: Observers()].add(continuation)
        continuation.onTermination = { [weak self] _ in
            Task { await self?.forget(token, in: room) }
        }
    }

    /// Returns a timeline's first update.
    private func opening(_ snapshot: RoomSnapshot, behind gap: TimelineGap?) -> TimelineUpdate {
        let room = snapshot.room.id
        let page = withLocalEchoes(snapshot.page.after(gap), in: room, before: .max)
        let memberNames = names[room] ?? MemberNames(snapshot.members)
        names[room] = memberNames
        return .opened(
            page, members: snapshot.members.map(memberNames.named), fullyReadMarker: snapshot.fullyReadMarker)
    }

    /// Has the observers of a room reload, beginning after its newest gap. If that fails, their streams end: they could
    /// not learn of the gap.
    func reloadTimeline(_ room: RoomID) async {
        do {
            guard let snapshot = try await store.snapshot(of: room, limit: Self.openingLimit) else { return }
            publish(opening(snapshot, behind: try await store.gaps(in: room).last), in: room)
        } catch {
            timelines[room]?.finish()
            timelines[room] = nil
        }
    }

    /// More events than one sync returns for a room.
    private static let openingLimit = 200

    private func forget(_ token: Int, in room: RoomID) {
        timelines[room]?.remove(token)
        guard timelines[room]?.isEmpty == true else { return }
        timelines[room] = nil
        names[room] = nil
    }
}

extension TimelinePage {
    /// The part of the page after a gap.
    func after(_ gap: TimelineGap?) -> TimelinePage {
        guard let gap else { return self }
        return TimelinePage(
            messages: messages.filter { $0.position >= gap.position }, hasOlder: true, hasNewer: hasNewer)
    }

    /// The part of the page before a gap.
    func before(_ gap: TimelineGap) -> TimelinePage {
        let remaining = messages.filter { $0.position < gap.position }
        return TimelinePage(
            messages: remaining, hasOlder: hasOlder, hasNewer: hasNewer || remaining.count < messages.count)
    }
}
