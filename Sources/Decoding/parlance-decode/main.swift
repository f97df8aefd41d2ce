import ConfinedDecoding
import Glibc
import ImageDecoders
import MediaDecoding

// parlance-decode size|still|play WIDTH HEIGHT <FILE
//
// Decodes the image on standard input to fit a box in pixels and writes `ImageRecord`s. Images may come from anyone, so
// they are decoded in a separate process, which confines itself before it reads more than the signature.
let arguments = CommandLine.arguments
guard arguments.count == 4, let mode = DecodingMode(rawValue: arguments[1]), let width = Int(arguments[2]),
    let height = Int(arguments[3]), (1...16384).contains(width), (1...16384).contains(height)
else {
    _ = "usage: parlance-decode size|still|play WIDTH HEIGHT <FILE\n".withCString { write(2, $0, strlen($0)) }
    exit(2)
}
Confinement.closeOthers()
do throws(ImageFailure) {
    // Load the format's library before the confinement, which forbids opening files.
    let image = try ImageFile(StandardInput.mapped())
    Confinement.start(memory: ImageLimits.memory)
    try image.decode(DecodingRequest(mode: mode, width: width, height: height), to: RecordSink())
    RecordOutput.end()
} catch {
    RecordOutput.fail(error)
}
