import ChatCore
import Testing

struct MediaPreferencesTests {
    private static func media(_ type: String, _ bytes: Int?, uri: String = "mxc://example.org/a") -> MediaReference {
        MediaReference(uri: uri, name: "a", type: type, bytes: bytes)
    }

    @Test(arguments: [
        ("image/png", MediaPreferences.Kind.images), ("image/webp", .images), ("image/gif", .animations),
        ("image/apng", .animations), ("image/svg+xml", .files), ("video/mp4", .videos), ("audio/ogg", .audio),
        ("application/pdf", .files), ("", .files),
    ])
    func kindFollowsFromTheType(type: String, kind: MediaPreferences.Kind) {
        #expect(MediaPreferences.Kind(Self.media(type, 1)) == kind)
    }

    @Test(arguments: [
        (MediaPreferences.Choice?.some(.always), Int?.some(1_000_001), true), (.always, nil, true),
        (.small, 1_000_000, true), (.small, 1_000_001, false), (.small, nil, false), (.never, 1, false),
        (nil, 1, false),
    ])
    func choiceAndSizeDecide(choice: MediaPreferences.Choice?, bytes: Int?, isLoaded: Bool) {
        for type in ["image/png", "image/gif", "video/mp4", "audio/ogg", "application/pdf"] {
            let media = Self.media(type, bytes)
            var choices = Dictionary(uniqueKeysWithValues: MediaPreferences.Kind.allCases.map { ($0, other(choice)) })
            choices[MediaPreferences.Kind(media)] = choice
            let preferences = MediaPreferences(choices: choices, smallBytes: 1_000_000)
            #expect(preferences.loadsAutomatically(media) == isLoaded, "\(type)")
        }
    }

    /// The opposite choice, for the other kinds, which must have no effect.
    private func other(_ choice: MediaPreferences.Choice?) -> MediaPreferences.Choice {
        choice == .always ? .never : .always
    }

    @Test func mediaOnThisComputerAreShown() {
        let preferences = MediaPreferences(choices: [:])
        #expect(preferences.loadsAutomatically(Self.media("video/mp4", nil, uri: "media:abc")))
        #expect(!preferences.loadsPosters && MediaPreferences().loadsPosters)
    }
}
