import ConfinedDecoding
import Glibc
import PictureDecoders
import PictureDecoding

// parlance-decode size|still|play WIDTH HEIGHT <FILE
//
// Decodes the picture on its standard input within a box of pixels and writes `ImageRecord`s. It runs apart from the
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
do throws(ImageFailure) {
    // The last library is opened by the first bytes, before the confinement: afterwards nothing can be.
    let image = try ImageFile(StandardInput.mapped())
    Confinement.start(memory: ImageLimits.memory)
    try image.decode(DecodingRequest(mode: mode, width: width, height: height), to: RecordSink())
    RecordOutput.end()
} catch {
    RecordOutput.fail(error)
}
