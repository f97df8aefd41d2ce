import Composer
import Foundation
import Testing

// The code of Composer.docc/Presets.md. `make lint` compares each block with a snippet.
struct PresetSnippets {
    @Test("A preset is a starting point for a custom configuration")
    func presetCanBeCustomized() {
        // snippet
        var configuration = ComposerConfiguration.preset(.slack)
        configuration.sendKey = .ctrlReturn
        configuration.characterLimit = 500
        configuration.completion.rules.append(CompletionRule(prefix: "!", minQuery: 1, position: .start))
        var engine = ComposerEngine(configuration: configuration)
        // end snippet
        _ = engine.handle(.insert("Hello", origin: .typed), at: .zero)
        _ = engine.handle(.key(KeyChord("Return")), at: .zero)
        #expect(engine.document.text == "Hello\n")
        // snippet
        let effects = engine.reconfigure(.preset(.messageComposerView))
        // end snippet
        #expect(!effects.contains { if case .edited = $0 { true } else { false } })
        #expect(engine.document.text == "Hello\n" && engine.configuration.characterLimit == 400)
    }

    @Test("Options are stored as JSON")
    func optionsAreStored() throws {
        let configuration = ComposerConfiguration.preset(.hakawai)
        // snippet
        let data = try JSONEncoder().encode(configuration)
        let stored = try JSONDecoder().decode(ComposerConfiguration.self, from: data)
        // end snippet
        #expect(stored == configuration)
    }
}
