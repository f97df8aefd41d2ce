import ChatCore
import ChatViewModels
import Testing

struct MediaSettingsTests {
    @Test("Each kind has a setting, and an unknown value loads nothing")
    func settingsAreRead() {
        let stored = [
            "automatic-images": "small", "automatic-videos": "always", "automatic-audio": "of a newer version",
        ]
        let preferences = MediaPreferences(
            choice: { stored[$0] ?? "never" }, megabytes: 2, playsAnimations: false)
        #expect(
            preferences.choices == [
                .images: .small, .animations: .never, .videos: .always, .audio: .never, .files: .never,
            ])
        #expect(preferences.smallBytes == 2_000_000 && !preferences.playsAnimations)
    }
}
