public import Foundation

/// Video and audio samples, made by `ffmpeg -f lavfi -i testsrc…` and `-i sine…`.
public enum SampleVideos {
    /// Three seconds of VP8 (160 × 90, 10 fps) with Opus audio.
    public static let webM = place("film.webm")
    /// One second of H.264, 96 × 54 rotated by 90°, so displayed as 54 × 96; without audio.
    public static let rotated = place("turned.mp4")
    /// Two seconds of Vorbis.
    public static let audio = place("sound.ogg")

    private static func place(_ name: String) -> URL {
        Bundle.module.bundleURL.appending(path: "Videos/\(name)")
    }
}
