import CGtk
import ChatCore
import ChatTestSupport
import Foundation
import GtkTestSupport
import LocalBackend
import XCTest

@testable import ChatGtk
@testable import ChatViewModels
@testable import GtkKit
@testable import MediaGtk

/// Audio of messages, which goes on while other rows are in view.
final class MessageAudioTests: GtkTestCase {
    func testAudioGoesOnWhileItsRowIsOutOfViewOrAnother() throws {
        try onMain {
            let folder = TemporaryFolder()
            let names = ["echo.wav", "sent.wav"]
            for name in names { try MediaPlayerTests.silence(seconds: 600).write(to: folder.url.appending(path: name)) }
            for loudness in [[1, 2], nil] {
                let files = names.map {
                    MediaReference(uri: $0, name: "s.wav", type: "audio/x-wav", duration: 600_000, loudness: loudness)
                }
                let stream = { @MainActor (view: AttachmentView) in view.voice?.stream ?? view.player?.stream }
                let media = MediaPresenter(service: MediaPlayerTests.Files(folder: folder.url))
                let (first, second) = (AttachmentView(media: media), AttachmentView(media: media))
                let box = Box(.vertical)
                for view in [first, second] { box.append(view.widget) }
                let window = TestWindow(box)
                first.show([files[0]], of: "transaction")
                let play = try XCTUnwrap(first.voice?.play ?? first.player?.play)
                XCTAssertTrue(MainLoop.pump { play.isMapped })
                play.activate()
                XCTAssertTrue(MainLoop.pump { stream(first)?.isPlaying == true })
                let sound = try XCTUnwrap(stream(first))
                box.isVisible = false
                XCTAssertTrue(MainLoop.pump { !play.isMapped })
                XCTAssertTrue(sound.isPlaying, "its row is out of view")
                first.show([], of: "other")
                XCTAssertTrue(sound.isPlaying, "its row is recycled")
                second.show([files[1]], of: "transaction")
                box.isVisible = true
                XCTAssertTrue(stream(second) === sound, "what was sent is at another place")
                if let voice = second.voice { XCTAssertEqual(voice.play.tooltip, "Pause") }
                first.show([files[0]], of: "other")
                XCTAssertNil(stream(first), "of another message")
                first.show([files[1]], of: "transaction")
                XCTAssertTrue(stream(first) === sound && sound.isPlaying)
                first.show([], of: "transaction")
                XCTAssertFalse(sound.isPlaying, "the message was deleted")
                sound.play()
                media.endAudio()
                XCTAssertFalse(sound.isPlaying, "the room is left")
                first.show([files[1]], of: "transaction")
                XCTAssertNil(stream(first))
                window.close()
            }
            withExtendedLifetime(folder) {}
        }
    }

    func testAudioOfARemovedMessageEnds() throws {
        try onMain {
            let bench = try ConversationBench(3)
            let sound = MediaPlayerTests.silence(seconds: 600)
            let stored = try finish { [backend = bench.fixture.backend] in
                try await backend.storeMedia(.data(sound), named: "s.wav", type: "audio/x-wav", progress: { _ in })
            }
            let file = MediaReference(
                uri: stored.uri, name: "s.wav", type: "audio/x-wav", duration: 600_000, loudness: [1, 2])
            let message = Message(
                id: MessageID("m3"), roomID: ConversationBench.room, sender: ConversationBench.other, text: "",
                sentAt: Date(timeIntervalSince1970: 1_768_000_000), position: 4, attachments: [file])
            bench.model.apply(.changed([message]))
            bench.waitUntilIdle()
            let buttons = try XCTUnwrap(bench.row(3)).widget.descendants.compactMap {
                $0.wrapped(as: Button.self, gtk_button_get_type())
            }
            let play = try XCTUnwrap(buttons.first { $0.tooltip == "Play" })
            play.activate()
            XCTAssertTrue(bench.wait { play.tooltip == "Pause" })
            bench.model.apply(.changed([bench.model.rows.message(MessageID("m2"))?.message].compactMap { $0 }))
            XCTAssertEqual(play.tooltip, "Pause")
            bench.model.apply(.removed([message.id]))
            XCTAssertEqual(play.tooltip, "Play")
            try bench.close()
        }
    }

    func testAudioOfADeletedMessageOutOfViewEnds() throws {
        try onMain {
            let folder = TemporaryFolder()
            try MediaPlayerTests.silence(seconds: 600).write(to: folder.url.appending(path: "s.wav"))
            let file = MediaReference(uri: "s.wav", name: "s.wav", type: "audio/x-wav", duration: 600_000)
            let removal = { (id: String) in
                DeletedMessages(.removed([MessageID(id)]), LoadedMessages(), FailedMessages())
            }
            var sent = Message(
                id: MessageID("event"), roomID: ConversationBench.room, sender: ConversationBench.own, text: "",
                sentAt: Date(timeIntervalSince1970: 1_768_000_000), position: 4, attachments: [])
            sent.transactionID = TransactionID("message")
            sent.delete()
            for deletion in [
                removal("message"), DeletedMessages(.changed([sent]), LoadedMessages(), FailedMessages()),
            ] {
                let media = MediaPresenter(service: MediaPlayerTests.Files(folder: folder.url))
                let view = AttachmentView(media: media)
                view.show([file], of: "message")
                let window = TestWindow(view.widget)
                let play = try XCTUnwrap(view.player?.play)
                XCTAssertTrue(MainLoop.pump { play.isMapped })
                play.activate()
                XCTAssertTrue(MainLoop.pump { media.stream(ofAudio: "0 message")?.isPlaying == true })
                let stream = try XCTUnwrap(media.stream(ofAudio: "0 message"))
                view.show([], of: "other")
                for other in ["mess", "age", "0 message", "other"] { media.endAudio(of: removal(other)) }
                XCTAssertTrue(stream.isPlaying)
                media.endAudio(of: deletion)
                XCTAssertFalse(stream.isPlaying)
                XCTAssertNil(media.stream(ofAudio: "0 message"))
                window.close()
            }
            withExtendedLifetime(folder) {}
        }
    }

    func testViewsOfPlayingAudioLeaveNoHandlers() throws {
        try onMain {
            let folder = TemporaryFolder()
            try MediaPlayerTests.silence(seconds: 600).write(to: folder.url.appending(path: "s.wav"))
            for loudness in [[1, 2], nil] {
                let file = MediaReference(
                    uri: "s.wav", name: "s.wav", type: "audio/x-wav", duration: 600_000, loudness: loudness)
                let media = MediaPresenter(service: MediaPlayerTests.Files(folder: folder.url))
                let view = AttachmentView(media: media)
                view.show([file], of: "message")
                let window = TestWindow(view.widget)
                let play = try XCTUnwrap(view.voice?.play ?? view.player?.play)
                XCTAssertTrue(MainLoop.pump { play.isMapped })
                play.activate()
                XCTAssertTrue(MainLoop.pump { media.stream(ofAudio: "0 message")?.isPlaying == true })
                window.close()
                let stream = try XCTUnwrap(media.stream(ofAudio: "0 message"))
                stream.pause()
                view.show([], of: "other")
                while MainLoop.iterate() {}
                let closures = ClosureCount.live
                for _ in 0..<3 {
                    view.show([file], of: "message")
                    XCTAssertTrue((view.voice?.stream ?? view.player?.stream) === stream)
                    view.show([], of: "other")
                }
                XCTAssertTrue(
                    MainLoop.pump { ClosureCount.live <= closures }, "\(ClosureCount.live) > \(closures) closures")
            }
            withExtendedLifetime(folder) {}
        }
    }
}
