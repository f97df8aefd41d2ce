import CEnchant
public import ComposerSessions

/// Checks words with Enchant's dictionaries: Hunspell, Nuspell, Aspell, Voikko, or any other provider.
///
/// The first call loads Enchant. It is not thread-safe, and loading a dictionary or finding suggestions may take a
/// second, so everything runs on a queue of its own.
public actor EnchantChecker: SpellChecker {
    private let queue = SpellingQueue()
    private var broker: Broker?
    /// `nil` for a dictionary that can't be read.
    private var dictionaries: [String: OpaquePointer?] = [:]

    private struct Broker {
        var library: shim_enchant_library
        let pointer: OpaquePointer
    }

    public init() {}

    public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    // The broker and its dictionaries exist until the program ends, like the library.

    public func languages() throws(SpellingError) -> [String] {
        var broker = try loaded()
        var found: Set<String> = []
        withUnsafeMutablePointer(to: &found) { found in
            shim_enchant_list(
                &broker.library, broker.pointer,
                { tag, _, _, _, found in
                    guard let tag, let found = found?.assumingMemoryBound(to: Set<String>.self) else { return }
                    found.pointee.insert(String(cString: tag))
                }, found)
        }
        return found.sorted()
    }

    public func misspelled(_ words: [String], in languages: [String]) throws(SpellingError) -> Set<String> {
        var broker = try loaded()
        var open: [OpaquePointer] = []
        for language in languages { open.append(try dictionary(of: language)) }
        var wrong: Set<String> = []
        for word in words {
            // Dictionaries use the typewriter apostrophe, and German ones lack words such as `geht's`.
            let spelled = word.replacing("\u{2019}", with: "'")
            let forms = spelled.hasSuffix("'s") ? [spelled, String(spelled.dropLast(2))] : [spelled]
            // Words that cannot be checked do not count as misspelled.
            let isRight = open.contains { dictionary in
                forms.contains { shim_enchant_check(&broker.library, dictionary, $0) <= 0 }
            }
            if !isRight { wrong.insert(word) }
        }
        return wrong
    }

    public func suggestions(for word: String, in languages: [String]) throws(SpellingError) -> [String] {
        var broker = try loaded()
        var lists: [ArraySlice<String>] = []
        for language in languages {
            let dictionary = try dictionary(of: language)
            var count = 0
            guard let list = shim_enchant_suggest(&broker.library, dictionary, word, &count) else { continue }
            lists.append(ArraySlice((0..<count).compactMap { list[$0].map { String(cString: $0) } }))
            shim_enchant_free(&broker.library, dictionary, list)
        }
        // Alternate between languages, best suggestions first.
        var merged: [String] = []
        while lists.contains(where: { !$0.isEmpty }) {
            for index in lists.indices {
                guard let next = lists[index].popFirst(), !merged.contains(next) else { continue }
                merged.append(next)
            }
        }
        return merged
    }

    public func add(_ word: String, to language: String) throws(SpellingError) {
        var broker = try loaded()
        let dictionary = try dictionary(of: language)
        guard shim_enchant_add(&broker.library, dictionary, word) == 0 else { throw .unwritable(language) }
    }

    private func loaded() throws(SpellingError) -> Broker {
        if let broker { return broker }
        var library = shim_enchant_library()
        guard shim_enchant_load(&library) == 0, let pointer = shim_enchant_init(&library) else { throw .notInstalled }
        let broker = Broker(library: library, pointer: pointer)
        self.broker = broker
        return broker
    }

    private func dictionary(of language: String) throws(SpellingError) -> OpaquePointer {
        var broker = try loaded()
        let known: OpaquePointer?
        if let asked = dictionaries[language] {
            known = asked
        } else {
            known = shim_enchant_request(&broker.library, broker.pointer, language)
            dictionaries[language] = .some(known)
        }
        guard let known else { throw .unreadable(language) }
        return known
    }
}
