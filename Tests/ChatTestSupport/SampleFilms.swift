public import Foundation

/// Films and sounds, made by `ffmpeg -f lavfi -i testsrc…` and `-i sine…`.
public enum SampleFilms {
    /// Three seconds of VP8, 160 × 90, ten frames a second, and of Opus.
    public static let film = place("film.webm")
    /// A second of H.264, 96 × 54 and turned by a quarter, so that it is seen as 54 × 96; without a sound.
    public static let turned = place("turned.mp4")
    /// Two seconds of Vorbis.
    public static let sound = place("sound.ogg")

    private static func place(_ name: String) -> URL {
        Bundle.module.bundleURL.appending(path: "Films/\(name)")
    }
}
