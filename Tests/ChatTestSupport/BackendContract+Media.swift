import ChatCore
import Foundation

extension BackendContract {
    static let media: [BackendContract] = [
        BackendContract("a file that is sent comes back with its content, its size and its name") { backend in
            let room = try await backend.createRoom(named: "Room")
            let data = Data("The content of a file.".utf8)
            var file = try await backend.storeMedia(.data(data), named: "note.txt", type: "text/plain") { _ in }
            try expect(file.bytes == data.count && file.name == "note.txt", "it is as it was taken in")
            (file.width, file.height, file.altText) = (3, 4, "A note")
            let message = WrittenMessage("", kind: file.messageKind, files: [file])
            let sent = try await backend.send(message, as: TransactionID("t1"), to: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(
                page.messages == [sent] && sent.attachments == [file] && sent.kind == .file, "it is stored whole")
            try expect(try Data(contentsOf: await backend.content(of: file)) == data, "its content is there")
            let named = try await backend.namedFile(of: file)
            try expect(named.lastPathComponent == "note.txt", "other programs see its name")
            try expect(try Data(contentsOf: named) == data, "and its content")
            let listed = await summary(of: room, in: backend) { $0.lastMessage?.text == "note.txt" }
            try expect(listed != nil, "the list names it where there is no text")
        },
        BackendContract("a deleted message has no files") { backend in
            let room = try await backend.createRoom(named: "Room")
            let file = try await backend.storeMedia(.data(Data("x".utf8)), named: "x", type: "text/plain") { _ in }
            let sent = try await backend.send(
                WrittenMessage("see", files: [file]), as: TransactionID("t1"), to: room)
            try await backend.delete(sent.id, in: room)
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.first?.attachments.isEmpty == true, "none is left")
        },
        BackendContract("a message never refers to what is not there") { backend in
            let room = try await backend.createRoom(named: "Room")
            let nowhere = MediaReference(uri: "media:nowhere", name: "x", type: "text/plain")
            try await expect(.notFound) { _ = try await backend.content(of: nowhere) }
            try await expect(.notFound) {
                try await backend.send(
                    WrittenMessage("x", files: [nowhere]), as: TransactionID("t"), to: room)
            }
            try await expect(.unreadableFile) {
                let missing = URL(fileURLWithPath: "/nowhere/at/all")
                _ = try await backend.storeMedia(.file(missing), named: "x", type: "text/plain") { _ in }
            }
            let page = try await backend.messages(in: room, before: .max, limit: 10)
            try expect(page.messages.isEmpty, "nothing was stored")
        },
    ]
}
