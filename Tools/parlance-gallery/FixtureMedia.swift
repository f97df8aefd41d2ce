import CGtk
import ChatCore
import Foundation
import GtkKit

/// Messages with every kind of file, for screenshots and scroll benchmarks.
nonisolated struct FixtureMedia: Sendable {
    private static let folder = FileManager.default.temporaryDirectory.appending(path: "parlance-gallery-\(getpid())")
    private var folder: URL { Self.folder }
    /// Audio, video, and animated samples, shared with the tests.
    private let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Tests/ChatTestSupport/Videos").standardizedFileURL
    private static let photos = 12
    private static let hashes = ["LEHV6nWB2yk8pyo0adR*.7kCMdnj", "LGF5]+Yk^6#M@-5c,1J5@[or[Q6.", "00TI:j"]

    /// Renders the images.
    init() {
        // Without the folder no image is displayed, which the screenshots show.
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for number in 0..<Self.photos { Self.draw(number, to: folder.appending(path: "\(number).png")) }
    }

    /// Removes the images. If that fails, temporary files are left over, which is harmless.
    func remove() { try? FileManager.default.removeItem(at: folder) }

    private static func size(_ number: Int) -> (width: Int, height: Int) {
        [(1200, 800), (800, 1100), (1000, 1000), (1600, 500)][number % 4]
    }

    /// Draws hills under an evening sky, in other colors and shapes for each number.
    private static func draw(_ number: Int, to file: URL) {
        let (width, height) = size(number)
        var pixels = [UInt8](repeating: 255, count: width * height * 4)
        let phase = Double(number) * 1.7
        let sun = (x: 0.3 + 0.4 * abs(sin(phase)), y: 0.36)
        let ratio = Double(width) / Double(height)
        for x in 0..<width {
            let u = Double(x) / Double(width)
            let ridges = (0..<4).map { layer in
                let (near, start) = (Double(layer), phase + Double(layer) * 2.1)
                return 0.5 + 0.12 * near + (0.09 - 0.012 * near) * sin(u * (3.2 + near) + start) + 0.02
                    * sin(u * 17 + start)
            }
            for y in 0..<height {
                let v = Double(y) / Double(height)
                let layer = ridges.lastIndex { v > $0 }
                let distance = hypot((u - sun.x) * ratio, v - sun.y)
                let color =
                    layer.map { hill($0, phase) } ?? (distance < 0.07 ? (255, 244, 214) : sky(v, glow: distance, phase))
                let offset = (y * width + x) * 4
                pixels[offset] = UInt8(color.0)
                pixels[offset + 1] = UInt8(color.1)
                pixels[offset + 2] = UInt8(color.2)
            }
        }
        DecodedImage(pixels: pixels, width: width, height: height)?.savePNG(to: file.path)
    }

    private static func sky(_ height: Double, glow distance: Double, _ phase: Double) -> (Double, Double, Double) {
        let glow = 50 * exp(-3 * distance)
        let warm = 20 * sin(phase)
        return (min(255, 190 + 50 * height + glow / 2), 130 + warm / 2 + 70 * height + glow, 130 - warm + glow / 2)
    }

    private static func hill(_ layer: Int, _ phase: Double) -> (Double, Double, Double) {
        let dark = 1 - 0.23 * Double(layer)
        return (dark * (136 + 20 * sin(phase)), dark * 96, dark * (126 + 26 * cos(phase)))
    }

    // MARK: Files

    /// Returns a photo's URL, for an avatar.
    static func photo(_ number: Int) -> String { folder.appending(path: "\(number).png").absoluteString }

    /// - Parameter copy: distinguishes references to the same photo; each one is cached separately.
    func photo(_ number: Int, copy: Int = 0) -> MediaReference {
        let number = number % Self.photos
        let size = Self.size(number)
        return MediaReference(
            uri: folder.appending(path: "\(number).png").absoluteString + "#\(copy)", name: "\(number).png",
            type: "image/png", bytes: 1_234_567, width: size.width, height: size.height, blurHash: Self.hashes[0])
    }

    private func sample(_ name: String, _ type: String, _ change: (inout MediaReference) -> Void) -> MediaReference {
        let file = samples.appending(path: name)
        // With a missing sample, screenshots would show a damaged image and benchmarks would measure nothing.
        guard let bytes = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize else {
            fatalError("no sample \(file.path)")
        }
        var media = MediaReference(uri: file.absoluteString, name: name, type: type, bytes: bytes)
        change(&media)
        return media
    }

    var video: MediaReference {
        sample("film.webm", "video/webm") { ($0.width, $0.height, $0.duration) = (640, 360, 3008) }
    }
    var moving: MediaReference { sample("moving.gif", "image/gif") { ($0.width, $0.height) = (96, 64) } }
    private var audio: MediaReference { sample("sound.ogg", "audio/ogg") { $0.duration = 2000 } }
    private var voice: MediaReference {
        sample("sound.ogg", "audio/ogg") {
            $0.duration = 83_000
            $0.loudness = (0..<60).map { place -> Int in
                let wave: Double = sin(Double(place) * 0.9) * cos(Double(place) * 0.23)
                return Int(512 + 480 * wave)
            }
        }
    }

    /// Images that never finish loading, are damaged, or are unavailable.
    private var unseen: [MediaReference] {
        let broken = folder.appending(path: "broken.png")
        // An image that could not be written cannot be displayed either.
        try? Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]).write(to: broken)
        func media(_ uri: String, _ hash: String?) -> MediaReference {
            MediaReference(uri: uri, name: "picture.png", type: "image/png", width: 640, height: 400, blurHash: hash)
        }
        return [
            media("never:1", Self.hashes[0]), media("never:2", Self.hashes[1]), media("never:3", nil),
            media(broken.absoluteString, nil), media("gone:1", nil),
        ]
    }

    // MARK: Rooms

    /// Returns one message for each kind of file.
    func fileMessages(in room: RoomID, now: Date) -> [Message] {
        let files: [MediaReference] =
            [photo(0), video, audio, voice, moving]
            + [
                MediaReference(
                    uri: "gone:2", name: "Autumn issue, last proof before the printer.pdf", type: "application/pdf",
                    bytes: 4_567_890)
            ] + unseen
        return files.enumerated().map { index, file in
            message(index, in: room, now, text: index == 0 ? "From the hill, *yesterday*" : "", files: [file])
        }
    }

    private static let texts = [
        "Thursday at seven?", "I can bring the Rheinberger, all **four** parts, and `the Brahms` as well.",
        "```swift\nfunc greet(_ name: String) -> String {\n    \"Hello, \\(name)!\"\n}\n```",
        "| name | age |\n|:-----|----:|\n| Ann | 42 |\n| Bob | 7 |", "1. first\n2. second\n   - nested\n   - twice",
        "> What did you say?\n\nThat it *works*.", "👍🎉",
        "The hall is ours until ten, and the heating should be working again by then. They came to fix it on Monday. "
            + "Could we take it slowly once with the piano, and then twice without? It’s only eight bars.",
    ]

    /// Returns messages that alternate between text, code, tables, images, videos, replies, and reactions.
    func mixed(_ count: Int, in room: RoomID, now: Date) -> [Message] {
        (0..<count).map { index in
            let files: [MediaReference] =
                switch index % 9 {
                case 2: [photo(index, copy: index)]
                case 5: [[moving, video, audio, voice][index / 9 % 4]]
                default: []
                }
            let text = files.isEmpty ? Self.texts[index * 5 % Self.texts.count] : ""
            return message(index, in: room, now, text: text, files: files)
        }
    }

    /// Returns a thousand messages with different images.
    func images(in room: RoomID, now: Date) -> [Message] {
        (0..<1000).map { message($0, in: room, now, text: "", files: [photo($0, copy: $0)]) }
    }

    private func message(_ index: Int, in room: RoomID, _ now: Date, text: String, files: [MediaReference]) -> Message {
        let senders = [FixtureConversation.ann, FixtureConversation.tomas, FixtureService.ownMember]
        let reactions = index % 7 == 3 ? [Reaction(text: "👍", senders: senders.prefix(2).map(\.id))] : []
        return Message(
            id: MessageID("\(room.rawValue)\(index)"), roomID: room, sender: senders[index / 2 % 3].id, text: text,
            sentAt: now.addingTimeInterval(-60 * Double(1000 - index)), position: Int64(index),
            replyTo: index % 11 == 10 ? MessageID("\(room.rawValue)\(index - 3)") : nil,
            kind: files.first?.messageKind ?? .text, attachments: files, reactions: reactions)
    }
}
