import CPixbuf
import ConfinedDecoding
import Glibc
import PictureDecoding

// parlance-decode size|still|play WIDTH HEIGHT <FILE
//
// Decodes the picture on its standard input within a box of pixels and writes `PictureRecord`s. It runs apart from the
// program because pictures come from anyone: before it looks at more than the first bytes it has given up all it could
// do but compute.
let arguments = CommandLine.arguments
guard arguments.count == 4, let mode = DecodingMode(rawValue: arguments[1]), let width = Int(arguments[2]),
    let height = Int(arguments[3]), (1...16384).contains(width), (1...16384).contains(height)
else {
    _ = "usage: parlance-decode size|still|play WIDTH HEIGHT <FILE\n".withCString { write(2, $0, strlen($0)) }
    exit(2)
}
Confinement.closeOthers()
let request = DecodingRequest(mode: mode, width: width, height: height)
var source = ByteInput()
guard let format = PictureFormat(beginning: source.peek(16)) else { RecordOutput.fail(.unknownFormat) }
switch format {
case .webp:
    Confinement.begin(memory: PictureLimits.memory)
    WebPPicture(request).decode(&source)
case .pixbuf(let name):
    // Before the confinement: the loader may be a module that has to be opened.
    guard let picture = PixbufPicture(request, format: name) else { RecordOutput.fail(.unknownFormat) }
    Confinement.begin(memory: PictureLimits.memory)
    picture.decode(&source)
}
