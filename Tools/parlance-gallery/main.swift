import ChatCore
import ChatGtk
import Foundation
import GtkKit

let usage = """
    usage: parlance-gallery screenshots FOLDER   draw every view, light and dark, narrow and wide
           parlance-gallery encryption FOLDER    draw the states of encryption, light and dark, narrow and wide
           parlance-gallery encryption FOLDER NAME
                                                 draw them in the language of the environment, light and narrow
           parlance-gallery sizes FOLDER         draw the views with text at 100, 150 and 200 %, narrow to wide
           parlance-gallery published FOLDER IMAGE
                                                 draw the screenshots of README and metainfo, and the guide's image
           parlance-gallery states FOLDER SUFFIX draw the composer's states as the environment says
           parlance-gallery demo                 a composer to try things in, and a log of what it tells
           parlance-gallery act                  open, act and close, for a leak check
           parlance-gallery scroll               measure scrolling through all kinds of messages
           parlance-gallery switch ROUNDS        measure switching between rooms
           parlance-gallery opening              measure 1,000 messages that become readable
           parlance-gallery switcher             measure opening the switcher among 10,000 rooms
           parlance-gallery languages FOLDER NAME
                                                 draw the views in the language of the environment, narrow to wide
           parlance-gallery keys bare|composer N write N characters, for counting what one costs

    """
// `with-display` sets no language; `with-locale` sets one.
Localization.adopt(
    domain: "parlance", folder: ProcessInfo.processInfo.environment["TEXTDOMAINDIR"] ?? ".build/locale")
let arguments = Array(CommandLine.arguments.dropFirst())
do { try Resource.load() } catch {
    FileHandle.standardError.write(Data("parlance-gallery: \(error.message)\n".utf8))
    exit(1)
}
let gallery: Gallery
var demo: Demo?
switch (arguments.first, arguments.count) {
case ("screenshots", 2):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]))
    gallery = Gallery { await Screenshots(gallery: $0, pictures: pictures).draw() }
case ("encryption", 2):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]))
    gallery = Gallery(capabilities: [.reactions, .memberList]) {
        await EncryptionPictures(gallery: $0, pictures: pictures).draw()
    }
case ("encryption", 3):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]), prefix: "\(arguments[2])-")
    gallery = Gallery(capabilities: [.reactions, .memberList]) {
        await EncryptionPictures(gallery: $0, pictures: pictures, schemes: ["light"], widths: [DialogPictures.narrow])
            .draw()
    }
case ("sizes", 2):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]))
    gallery = Gallery { await SizePictures(gallery: $0, pictures: pictures).draw() }
case ("published", 3):
    let published = PublishedScreenshots(
        pictures: PictureFolder(url: URL(fileURLWithPath: arguments[1])), guideImage: URL(fileURLWithPath: arguments[2])
    )
    gallery = Gallery(isPublished: true) { await published.draw(with: $0) }
case ("states", 3):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]))
    gallery = Gallery { await Screenshots(gallery: $0, pictures: pictures).drawStates("-\(arguments[2])") }
case ("demo", 1):
    gallery = Gallery { _ in
        await withCheckedContinuation { continuation in
            demo = Demo { continuation.resume() }
        }
        return 0
    }
case ("act", 1):
    gallery = Gallery { await Performance(gallery: $0).run() }
case ("scroll", 1):
    gallery = Gallery { await ScrollBenchmark(gallery: $0).run() }
case ("switch", 2):
    let rounds = Int(arguments[1]) ?? 0
    gallery = Gallery { await SwitchBenchmark(gallery: $0, rounds: rounds).run() }
case ("opening", 1):
    gallery = Gallery { await OpeningBenchmark(gallery: $0).run() }
case ("switcher", 1):
    gallery = Gallery { await SwitcherBenchmark(gallery: $0).run() }
case ("languages", 3):
    let pictures = PictureFolder(url: URL(fileURLWithPath: arguments[1]))
    let language = arguments[2]
    gallery = Gallery { await LanguagePictures(gallery: $0, pictures: pictures, language: language).draw() }
case ("keys", 3):
    let presses = KeyPresses(isComposer: arguments[1] == "composer", count: Int(arguments[2]) ?? 0)
    gallery = Gallery { _ in await presses.run() }
default:
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
exit(gallery.run())
