import ChatGtk
import Foundation
import GtkKit

let usage = """
    usage: parlance-gallery screenshots FOLDER   draw every view, light and dark, narrow and wide
           parlance-gallery act                  open, act and close, for a leak check

    """
let arguments = Array(CommandLine.arguments.dropFirst())
do { try Resource.load() } catch {
    FileHandle.standardError.write(Data("parlance-gallery: \(error.message)\n".utf8))
    exit(1)
}
let gallery: Gallery
switch (arguments.first, arguments.count) {
case ("screenshots", 2):
    let folder = URL(fileURLWithPath: arguments[1])
    gallery = Gallery { await Screenshots(gallery: $0, folder: folder).draw() }
case ("act", 1):
    gallery = Gallery { await Performance(gallery: $0).run() }
default:
    FileHandle.standardError.write(Data(usage.utf8))
    exit(2)
}
exit(gallery.run())
