public import ChatCore
public import Foundation

/// How the user's language and desktop write texts, sizes and dates.
public struct Wording {
    public let translator: Translator
    /// Writes a number of bytes, such as `1.2 MB`.
    public let byteCount: (Int) -> String
    /// Writes a date with its time.
    public let fullDate: (Date) -> String

    public init(
        translator: Translator, byteCount: @escaping (Int) -> String, fullDate: @escaping (Date) -> String
    ) {
        self.translator = translator
        self.byteCount = byteCount
        self.fullDate = fullDate
    }
}
