public import ChatCore
public import Foundation

/// How texts, sizes and dates are written in the user's language and on the desktop.
public struct Wording {
    public let translator: Translator
    /// Formats a number of bytes, such as `1.2 MB`.
    public let byteCount: (Int) -> String
    /// Formats a date with its time.
    public let fullDate: (Date) -> String

    public init(
        translator: Translator, byteCount: @escaping (Int) -> String, fullDate: @escaping (Date) -> String
    ) {
        self.translator = translator
        self.byteCount = byteCount
        self.fullDate = fullDate
    }
}
