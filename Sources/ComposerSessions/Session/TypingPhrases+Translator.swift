public import ChatCore
public import Composer

extension TypingPhrases {
    /// Localized phrases (SLK-40, SLK-64).
    public nonisolated init(_ translator: Translator) {
        self.init(
            one: translator("{0} is typing…"), two: translator("{0} & {1} are typing…"),
            several: translator("Several people are typing…"))
    }
}
