/// The names of languages in the languages themselves, so that their speakers recognize them in any interface.
public nonisolated enum LanguageNames {
    /// Returns the name of a locale's language, with its country if there is one: `Deutsch (AT)`.
    public static func name(of locale: String) -> String {
        let base = SpellingChoice.base(of: locale)
        guard let name = names[base] else { return locale }
        let rest = locale.dropFirst(base.count + 1).replacing("_", with: ", ")
        return rest.isEmpty ? name : "\(name) (\(rest))"
    }

    private static let names = [
        "af": "Afrikaans", "an": "Aragonés", "ar": "العربية", "as": "অসমীয়া", "ast": "Asturianu", "be": "Беларуская",
        "bg": "Български", "bn": "বাংলা", "bo": "བོད་སྐད་", "br": "Brezhoneg", "bs": "Bosanski", "ca": "Català",
        "cs": "Čeština", "cy": "Cymraeg", "da": "Dansk", "de": "Deutsch", "el": "Ελληνικά", "en": "English",
        "eo": "Esperanto", "es": "Español", "et": "Eesti", "eu": "Euskara", "fa": "فارسی", "fi": "Suomi",
        "fo": "Føroyskt", "fr": "Français", "ga": "Gaeilge", "gd": "Gàidhlig", "gl": "Galego", "gu": "ગુજરાતી",
        "he": "עברית", "hi": "हिन्दी", "hr": "Hrvatski", "hu": "Magyar", "hy": "Հայերեն", "id": "Indonesia",
        "is": "Íslenska", "it": "Italiano", "ka": "ქართული", "kk": "Қазақ тілі", "km": "ខ្មែរ", "kn": "ಕನ್ನಡ",
        "ko": "한국어", "ku": "Kurdî", "la": "Latina", "lb": "Lëtzebuergesch", "lo": "ລາວ", "lt": "Lietuvių",
        "lv": "Latviešu", "mk": "Македонски", "ml": "മലയാളം", "mn": "Монгол", "mr": "मराठी", "ms": "Melayu",
        "nb": "Norsk bokmål", "nds": "Plattdüütsch", "ne": "नेपाली", "nl": "Nederlands", "nn": "Norsk nynorsk",
        "oc": "Occitan", "or": "ଓଡ଼ିଆ", "pa": "ਪੰਜਾਬੀ", "pl": "Polski", "pt": "Português", "ro": "Română",
        "ru": "Русский", "si": "සිංහල", "sk": "Slovenčina", "sl": "Slovenščina", "sq": "Shqip", "sr": "Српски",
        "sv": "Svenska", "sw": "Kiswahili", "ta": "தமிழ்", "te": "తెలుగు", "th": "ไทย", "tr": "Türkçe",
        "uk": "Українська", "ur": "اردو", "uz": "Oʻzbek", "vi": "Tiếng Việt", "yi": "ייִדיש", "zu": "isiZulu",
    ]
}
