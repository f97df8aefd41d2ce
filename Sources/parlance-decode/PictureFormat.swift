/// The kinds of pictures that are shown. SVG is none of them: it is a program as much as a picture.
enum PictureFormat: Equatable {
    /// gdk-pixbuf's name.
    case pixbuf(String)
    case webp

    /// By the first bytes alone: what a file is called says nothing.
    init?(beginning bytes: [UInt8]) {
        func begins(_ text: StaticString, at place: Int = 0) -> Bool {
            text.withUTF8Buffer { bytes.dropFirst(place).starts(with: $0) }
        }
        if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .pixbuf("png")
        } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
            self = .pixbuf("jpeg")
        } else if begins("GIF87a") || begins("GIF89a") {
            self = .pixbuf("gif")
        } else if begins("RIFF"), begins("WEBP", at: 8) {
            self = .webp
        } else if begins("BM") {
            self = .pixbuf("bmp")
        } else if bytes.starts(with: [0x49, 0x49, 0x2A, 0]) || bytes.starts(with: [0x4D, 0x4D, 0, 0x2A]) {
            self = .pixbuf("tiff")
        } else {
            return nil
        }
    }
}
