import ChatCore
import Composer
import Foundation

/// A message's source text is stored with it, through sending, editing, and failing.
extension BackendContract {
    private static let greeting = WrittenText(
        "Ann, *look*: \\*tide\\*",
        marks: [
            WrittenText.Mark(.mention(.member("@ann2:example.org")), over: TextRange(location: 0, length: 3)),
            WrittenText.Mark(.style(.underline), over: TextRange(location: 5, length: 6)),
        ])!

    static let written: [BackendContract] = [
        BackendContract("what is sent, edited and forwarded keeps its marks") { backend in
            let room = try await backend.createRoom(named: "Room")
            let sent = try await backend.send(WrittenMessage(greeting), as: TransactionID("w1"), to: room)
            try expect(sent.written == greeting, "it comes back as it was written")
            for text in [WrittenText("a_b_c", syntax: .plain), greeting] {
                try await backend.edit(sent.id, in: room, to: text)
                let edited = try await backend.messages([sent.id], in: room).first
                try expect(edited?.written == text, "so does an edit")
            }
            let before = try await backend.revisions(of: sent.id, in: room).map(\.wording.written)
            try expect(before == [greeting, WrittenText("a_b_c", syntax: .plain)], "so does what was said before")
            let copy = WrittenMessage(greeting, origin: .forwarded)
            let forwarded = try await backend.send(copy, as: TransactionID("w2"), to: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(forwarded.written == greeting && page.messages.map(\.written) == [greeting, greeting], "stored")
        },
        BackendContract("a mention is of whom it was, whatever it is called") { backend in
            let room = try await backend.createRoom(named: "Room")
            let names: [(String, MentionTarget)] = [
                ("Ann", .member("@ann1:example.org")), ("Ann", .member("@ann2:example.org")),
                ("*star*", .member("@star:example.org")), ("a_b_c", .member("@abc:example.org")),
                ("[x](y)", .member("@x:example.org")), ("<b>", .member("@b:example.org")),
                ("👩‍👩‍👧", .member("@family:example.org")), ("آن", .member("@arab:example.org")),
                ("Room", .room("!room:example.org", via: ["example.org"])), ("@room", .everyone),
            ]
            var (source, marks): (String, [WrittenText.Mark]) = ("", [])
            for (lead, (name, target)) in zip(
                ["", " **", "** ", "\n\n- ", "\n\n> ", "\n\n# "] + Array(repeating: " ", count: 9), names)
            {
                source += lead
                marks.append(
                    .init(.mention(target), over: TextRange(location: source.utf16.count, length: name.utf16.count)))
                source += name
            }
            let text = try require(WrittenText(source, marks: marks), "a text with mentions")
            let sent = try await backend.send(WrittenMessage(text), as: TransactionID("w1"), to: room)
            try expect(sent.written == text, "they were sent")
            try await backend.edit(sent.id, in: room, to: WrittenText("nobody"))
            try await backend.edit(sent.id, in: room, to: text)
            let edited = try await backend.messages([sent.id], in: room).first
            try expect(edited?.written == text, "an edit brings them back")
        },
        BackendContract("styles are sent, edited and cleared") { backend in
            let room = try await backend.createRoom(named: "Room")
            let styles: [TextStyle] = [.bold, .italic, .underline, .strikethrough, .monospace, .foreground("#1C71D8")]
            let source = styles.indices.map { "word\($0)" }.joined(separator: " ")
            let marks = styles.enumerated().map { place, style in
                WrittenText.Mark(.style(style), over: TextRange(location: place * 6, length: 5))
            }
            let styled = try require(WrittenText(source, marks: marks), "a text with styles")
            let sent = try await backend.send(WrittenMessage(styled), as: TransactionID("w1"), to: room)
            try expect(sent.written == styled, "it was sent")
            try await backend.edit(sent.id, in: room, to: WrittenText(source))
            try expect(
                try await backend.messages([sent.id], in: room).first?.written == WrittenText(source), "all are gone")
        },
        BackendContract("a text without markup says what it means") { backend in
            let room = try await backend.createRoom(named: "Room")
            for (source, text) in [(#"\*tide\*"#, "*tide*"), ("2*3*4", "2*3*4"), ("*tide*", "*tide*")] {
                let sent = try await backend.send(Fixtures.outgoing(source), to: room)
                try expect(sent.text == text && sent.written?.source == source, "\(source) says \(sent.text)")
            }
        },
        BackendContract("a caption can be taken away, a text cannot") { backend in
            let room = try await backend.createRoom(named: "Room")
            let file = try await backend.storeMedia(.data(Data("x".utf8)), named: "x", type: "text/plain") { _ in }
            let message = WrittenMessage(greeting, kind: .file, files: [file])
            let sent = try await backend.send(message, as: TransactionID("w1"), to: room)
            try expect(sent.written == greeting && sent.attachments.count == 1, "a caption is written, too")
            try await backend.edit(sent.id, in: room, to: WrittenText())
            let left = try await backend.messages([sent.id], in: room).first
            try expect(left?.text == "" && left?.written == nil && left?.attachments.count == 1, "the file is left")
            try await backend.edit(sent.id, in: room, to: greeting)
            try expect(try await backend.messages([sent.id], in: room).first?.written == greeting, "it can come back")
            let text = try await backend.send(Fixtures.outgoing("text"), to: room)
            try await expect(.emptyMessage) { try await backend.edit(text.id, in: room, to: WrittenText()) }
        },
        BackendContract("what is too large is known before it is sent") { backend in
            let room = try await backend.createRoom(named: "Room")
            try expect(backend.excess(of: WrittenMessage("x"), isEdit: false, in: room) < 0, "a letter is not")
            var low = 1
            var high = ChatLimits.messageBytes + 1
            func message(_ count: Int) -> WrittenMessage { WrittenMessage(String(repeating: "x", count: count)) }
            while high - low > 1 {
                let middle = (low + high) / 2
                if backend.excess(of: message(middle), isEdit: false, in: room) > 0 {
                    high = middle
                } else {
                    low = middle
                }
            }
            try await expect(.messageTooLong) {
                try await backend.send(message(high), as: TransactionID("w1"), to: room)
            }
            try await backend.send(message(low), as: TransactionID("w2"), to: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.map(\.text.utf8.count) == [low], "the largest was taken")
        },
        BackendContract("an answer knows what it answers") { backend in
            let room = try await backend.createRoom(named: "Room")
            let first = try await backend.send(Fixtures.outgoing("first"), to: room)
            let reply = WrittenMessage(greeting, reply: .init(to: first.id, by: first.sender))
            let answer = try await backend.send(reply, as: TransactionID("w1"), to: room)
            try expect(answer.replyTo == first.id && answer.written == greeting, "and says what it says")
            try await backend.delete(first.id, in: room)
            let left = try await backend.messages([first.id, answer.id], in: room)
            try expect(left.map(\.isDeleted) == [true, false], "what it answers can be deleted")
            try expect(left.last?.replyTo == first.id && left.last?.written == greeting, "which leaves it as it was")
        },
        BackendContract("what one does goes without files") { backend in
            let room = try await backend.createRoom(named: "Room")
            let file = try await backend.storeMedia(.data(Data("x".utf8)), named: "x", type: "text/plain") { _ in }
            try await expect(.attachmentsNotPermitted) {
                let message = WrittenMessage("waves", kind: .emote, files: [file])
                try await backend.send(message, as: TransactionID("w1"), to: room)
            }
            let sent = try await backend.send(
                WrittenMessage("waves", kind: .emote), as: TransactionID("w2"), to: room)
            try expect(sent.kind == .emote, "it is what one does")
        },
    ]
}
