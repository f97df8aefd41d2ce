public import ChatCore
public import Composer

extension TypingPhrases {
    /// Localized phrases (SLK-40, SLK-64). Translations name the placeholders; the phrases number them.
    public nonisolated init(_ translator: Translator) {
        self.init(
            one: translator("{name} is typing…", ["name": "{0}"]),
            two: translator("{first} and {second} are typing…", ["first": "{0}", "second": "{1}"]),
            several: translator("Several people are typing…"))
    }
}
