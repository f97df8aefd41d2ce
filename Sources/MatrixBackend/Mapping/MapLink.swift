import Foundation

/// An OpenStreetMap link for a `geo:` URI (RFC 5870).
struct MapLink: Equatable {
    let address: String

    /// - Returns: `nil` unless the text has valid coordinates.
    init?(geo text: String) {
        guard text.utf8.count <= 300, text.lowercased().hasPrefix("geo:") else { return nil }
        let coordinates = text.dropFirst(4).prefix { $0 != ";" && $0 != "?" }
        let numbers = coordinates.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard numbers.count == 2 || numbers.count == 3, let latitude = numbers[0], let longitude = numbers[1],
            abs(latitude) <= 90, abs(longitude) <= 180
        else { return nil }
        let (lat, lon) = (Self.text(latitude), Self.text(longitude))
        address = "https://www.openstreetmap.org/?mlat=\(lat)&mlon=\(lon)#map=16/\(lat)/\(lon)"
    }

    /// Rounds to a millionth of a degree, about 0.1 m.
    private static func text(_ degrees: Double) -> String { "\((degrees * 1_000_000).rounded() / 1_000_000)" }
}
