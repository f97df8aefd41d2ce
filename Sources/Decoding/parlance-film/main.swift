import ConfinedDecoding
import Glibc
import MediaDecoding

// parlance-film size|still|film WIDTH HEIGHT MILLISECONDS <FILE
//
// Decodes the video or audio file on standard input from a start time, with frames that fit a box in pixels. `size`
// writes a `VideoRecord` with the unscaled size, `still` writes one frame as `ImageRecord`s, and `film` all frames
// and audio as `VideoRecord`s, as fast as the reader accepts them. Files may come from anyone, so they are decoded
// in a separate process, which confines itself before it reads any data.
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
