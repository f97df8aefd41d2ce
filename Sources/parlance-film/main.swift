import ConfinedDecoding
import Glibc
import PictureDecoding

// parlance-film size|still|film WIDTH HEIGHT MILLISECONDS <FILE
//
// Decodes the film or the sound on its standard input from a time on, its frames within a box of pixels. `size` tells
// what it is, as a `VideoRecord` in the film's own size; `still` writes one frame as `ImageRecord`s, `film` all frames
// and the sound as `VideoRecord`s, as fast as they are taken. It runs apart from the program because films come from
// anyone: before it reads anything it has given up all it could do but compute.
let arguments = CommandLine.arguments
guard arguments.count == 5, ["size", "still", "film"].contains(arguments[1]), let width = Int(arguments[2]),
    let height = Int(arguments[3]), let time = Int(arguments[4]), (1...16384).contains(width),
    (1...16384).contains(height), (0...Int(Int32.max)).contains(time)
else {
    _ = "usage: parlance-film size|still|film WIDTH HEIGHT MILLISECONDS <FILE\n".withCString {
        write(2, $0, strlen($0))
    }
    exit(2)
}
Confinement.closeOthers()
Confinement.start(memory: VideoLimits.memory)
let video = VideoFile(DecodingRequest(mode: .still, width: width, height: height))
switch arguments[1] {
case "size": video.sendSize()
case "still": video.sendStill()
default: video.send(from: time)
}
