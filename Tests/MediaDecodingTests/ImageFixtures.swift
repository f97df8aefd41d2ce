import Foundation

/// An image of four colored quarters (red and green above blue and yellow) in every format.
enum ImageFixtures {
    struct Fixture: CustomStringConvertible, Sendable {
        var name: String
        /// The maximum difference per channel after decoding.
        var tolerance: Int
        /// The alpha of the lower quarters.
        var alpha = 255
        var isGray = false
        var size = (width: 64, height: 32)
        var description: String { name }
    }

    /// Red, green, blue, yellow.
    static let colors: [[Int]] = [[220, 40, 40], [40, 180, 60], [40, 60, 200], [230, 210, 50]]

    static let all: [Fixture] =
        [
            ("plain.png", 0), ("deep.png", 0), ("palette.png", 0), ("interlaced.png", 0), ("turned.png", 0),
            ("profile.png", 2), ("plain.jpg", 4), ("progressive.jpg", 4), ("quarter-colors.jpg", 6), ("inks.jpg", 4),
            ("profile.jpg", 5), ("plain.gif", 0), ("interlaced.gif", 0), ("plain.webp", 6), ("turned.webp", 0),
            ("profile.webp", 2), ("palette.bmp", 0), ("runs.bmp", 0), ("plain.tif", 0), ("jpeg.tif", 5),
            ("deep.tif", 0), ("turned.tif", 0), ("profile.tif", 2), ("plain.avif", 4), ("deep.avif", 4),
            ("turned.avif", 4), ("wide.avif", 5), ("profile.avif", 5), ("plain.heic", 4), ("profile.heic", 5),
        ].map { Fixture(name: $0.0, tolerance: $0.1) }
        + [
            ("alpha.png", 0), ("deep-alpha-interlaced.png", 0), ("alpha.webp", 0), ("alpha.tif", 2), ("alpha.avif", 4),
            ("alpha.heic", 4),
        ].map { Fixture(name: $0.0, tolerance: $0.1, alpha: 128) }
        + [
            Fixture(name: "palette-transparent.png", tolerance: 255, alpha: 0),
            Fixture(name: "gray-alpha.png", tolerance: 2, alpha: 128, isGray: true),
            Fixture(name: "gray.png", tolerance: 2, isGray: true),
            Fixture(name: "deep-gray.png", tolerance: 2, isGray: true),
            Fixture(name: "gray.jpg", tolerance: 4, isGray: true),
            Fixture(name: "gray.tif", tolerance: 2, isGray: true),
            Fixture(name: "plain.bmp", tolerance: 4, size: (16, 8)),
            Fixture(name: "old.bmp", tolerance: 4, size: (16, 8)),
            Fixture(name: "sixteen.bmp", tolerance: 9, size: (16, 8)),
            Fixture(name: "alpha.bmp", tolerance: 4, alpha: 128, size: (16, 8)),
        ]

    static func bytes(_ name: String) -> [UInt8] {
        // Part of the test bundle.
        try! Array(Data(contentsOf: Bundle.module.resourceURL!.appending(path: "Pictures/\(name)")))
    }

    /// Returns the fixtures with this file name extension.
    static func bytes(ofKind kind: String) -> [[UInt8]] {
        all.map(\.name).filter { $0.hasSuffix(".\(kind)") }.map { bytes($0) }
    }
}
