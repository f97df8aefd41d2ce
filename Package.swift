// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target (DESIGN: one language mode, no hidden imports, explicit existentials).
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// Targets that live on the main actor: GTK, the view models and the executables.
/// Never for XCTest targets, which it breaks.
let mainActorSettings = settings + [.defaultIsolation(MainActor.self)]

let package = Package(
    name: "Parlance",
    products: [
        .library(name: "Composer", targets: ["Composer"]),
        .library(name: "ChatGtk", targets: ["ChatGtk", "ChatViewModels", "Composer", "GtkKit"]),
        .executable(name: "parlance", targets: ["parlance"]),
        .executable(name: "parlance-decode", targets: ["parlance-decode"]),
        .executable(name: "parlance-film", targets: ["parlance-film"]),
        .executable(name: "parlance-bench", targets: ["Benchmarks"]),
        .executable(name: "parlance-replay", targets: ["parlance-replay"]),
        .executable(name: "parlance-gallery", targets: ["Gallery"]),
        .executable(name: "parlance-timeline-bench", targets: ["TimelineBench"]),
        .executable(name: "parlance-store-soak", targets: ["StoreSoak"]),
        .executable(name: "parlance-matrix-soak", targets: ["MatrixSoak"]),
    ],
    // Exactly these, as Package.resolved is not kept: the same clone is the same program. A newer one is a commit of its
    // own.
    dependencies: [
        // The composer's text is a tree of `_RopeModule`, whose leading underscore says that any version may change it.
        // It stays, pinned: a balanced tree of our own would be as long as all that rests on this one, and
        // TextStorageTests notices when it behaves otherwise.
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        // Its SQLite is the system's, and what a version makes of transactions and observation decides what is on the
        // disk when the power fails: the store's tests, its soak and its benchmarks were run with this one.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // The toolkit, and a thin layer over it.
        .systemLibrary(name: "CGtk", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .systemLibrary(
            name: "CGtkSource", pkgConfig: "gtksourceview-5", providers: [.apt(["libgtksourceview-5-dev"])]),
        .systemLibrary(name: "CPulse", pkgConfig: "libpulse-simple", providers: [.apt(["libpulse-dev"])]),
        .target(
            name: "GtkKit", dependencies: ["CGtk", "CJpeg", "CPulse", "PictureDecoding"],
            swiftSettings: mainActorSettings),
        .target(
            name: "GtkTestSupport", dependencies: ["CGtk", "GtkKit"], path: "Tests/GtkTestSupport",
            swiftSettings: settings),
        .testTarget(name: "GtkKitTests", dependencies: ["CGtk", "GtkKit", "GtkTestSupport"], swiftSettings: settings),

        // Pictures and films come from anyone: processes that can do nothing else decode them.
        .systemLibrary(name: "CPng", pkgConfig: "libpng", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CJpeg", pkgConfig: "libjpeg", providers: [.apt(["libjpeg-dev"])]),
        .systemLibrary(name: "CGif", providers: [.apt(["libgif-dev"])]),
        .systemLibrary(name: "CLcms", pkgConfig: "lcms2", providers: [.apt(["liblcms2-dev"])]),
        // Opened when a picture needs them, and linked to nothing: so without pkg-config.
        .systemLibrary(name: "CTiff", providers: [.apt(["libtiff-dev"])]),
        .systemLibrary(name: "CHeif", providers: [.apt(["libheif-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebpdemux", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(
            name: "CFilm", pkgConfig: "libavformat", providers: [.apt(["libavformat-dev", "libswscale-dev"])]),
        .systemLibrary(name: "CConfinement"),
        .target(name: "PictureDecoding", swiftSettings: settings),
        .target(
            name: "ConfinedDecoding", dependencies: ["CConfinement", "PictureDecoding"], swiftSettings: settings),
        .target(
            name: "PictureDecoders",
            dependencies: [
                "CGif", "CHeif", "CJpeg", "CLcms", "CPng", "CTiff", "CWebP", "ConfinedDecoding", "PictureDecoding",
            ],
            // Optimized in debug builds too: a large picture would take them longer than any may.
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "parlance-decode", dependencies: ["ConfinedDecoding", "PictureDecoders", "PictureDecoding"],
            swiftSettings: settings,
            // libde265 has to find it (OneThread.swift).
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=de265_start_worker_threads"])
            ]),
        .executableTarget(
            name: "parlance-film", dependencies: ["CFilm", "ConfinedDecoding", "PictureDecoding"],
            swiftSettings: settings),
        .testTarget(
            name: "PictureDecodingTests",
            dependencies: [
                "CConfinement", "ChatTestSupport", "PictureDecoding", "PictureFuzzing", "SeededRandom",
                "parlance-decode", "parlance-film",
            ],
            resources: [.copy("Pictures")], swiftSettings: settings),
        .target(
            name: "PictureFuzzing", dependencies: ["ConfinedDecoding", "PictureDecoders", "PictureDecoding"],
            swiftSettings: settings),

        // The composer engine, and its drivers.
        .target(
            name: "Composer",
            dependencies: [.product(name: "_RopeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(name: "ComposerReplay", dependencies: ["Composer"], swiftSettings: settings),
        .executableTarget(name: "parlance-replay", dependencies: ["ComposerReplay"], swiftSettings: settings),
        .target(name: "ComposerFuzzing", dependencies: ["Composer"], swiftSettings: settings),
        .testTarget(
            name: "ComposerTests", dependencies: ["Composer", "ComposerFuzzing", "SeededRandom"],
            swiftSettings: settings),
        .testTarget(
            name: "ReplayTests", dependencies: ["ComposerReplay", "parlance-replay", "SeededRandom"],
            resources: [.copy("Traces")],
            swiftSettings: settings
        ),
        .target(name: "BenchmarkReport", swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "BenchmarkReport", "ChatArchive", "ChatCore", "LocalBackend", "ChatViewModels", "ChatStore", "Composer",
                "CJpeg", "CPng", "CWebP", "JSONReading", "MessageMarkup", "PictureDecoding", "SeededRandom",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: settings),

        // Rooms and messages, and where they are kept.
        .systemLibrary(name: "CStore", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .target(name: "ChatCore", dependencies: ["Composer"], swiftSettings: settings),
        .target(
            name: "ChatStore",
            dependencies: ["CStore", "ChatCore", "Composer", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(name: "ChatOutbox", dependencies: ["ChatCore", "Composer"], swiftSettings: settings),
        .target(
            name: "LocalBackend", dependencies: ["ChatCore", "ChatStore", "Composer", "MessageMarkup"],
            swiftSettings: settings),
        .target(name: "SeededRandom", swiftSettings: settings),
        .target(name: "SoakSupport", swiftSettings: settings),
        .executableTarget(
            name: "StoreSoak",
            dependencies: ["ChatCore", "ChatOutbox", "ChatStore", "Composer", "SeededRandom", "SoakSupport"],
            swiftSettings: settings),
        .target(
            name: "ChatTestSupport", dependencies: ["ChatCore", "Composer"], path: "Tests/ChatTestSupport",
            resources: [.copy("Films"), .copy("Stores")], swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
        .testTarget(
            name: "ChatStoreTests",
            dependencies: [
                "ChatCore", "ChatStore", "ChatTestSupport", "StoreSoak", .product(name: "GRDB", package: "GRDB.swift"),
                "SeededRandom",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ChatOutboxTests",
            dependencies: ["ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "Composer", "SeededRandom"],
            swiftSettings: settings),
        .testTarget(
            name: "LocalBackendTests", dependencies: ["ChatCore", "ChatStore", "ChatTestSupport", "LocalBackend"],
            swiftSettings: settings),

        // Matrix: what only it needs is in this one target.
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "MatrixBackend",
            dependencies: [
                "CCurl", "ChatCore", "ChatOutbox", "ChatStore", "Composer", "JSONReading", "MessageMarkup",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "MatrixSoak",
            dependencies: [
                "BenchmarkReport", "ChatCore", "ChatStore", "Composer", "JSONReading", "MatrixBackend", "SeededRandom",
                "SoakSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MatrixBackendTests",
            dependencies: [
                "ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "Composer", "JSONReading", "MatrixBackend",
                "SeededRandom",
            ], swiftSettings: settings),
        // Over a real homeserver, by themselves: `build-aux/test` starts one for them.
        .testTarget(
            name: "MatrixServerTests",
            dependencies: [
                "ChatArchive", "ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "ChatViewModels", "Composer",
                "ComposerFuzzing", "JSONReading", "LocalBackend", "MarkupFuzzing", "MatrixBackend", "MatrixSoak",
                "MessageMarkup",
            ], swiftSettings: settings),

        // What signs accounts in, in the desktop's keyring.
        .systemLibrary(name: "CSecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
        .target(
            name: "Keyring", dependencies: ["CGtk", "CSecret", "ChatCore", "GtkKit"], swiftSettings: mainActorSettings),
        .testTarget(
            name: "KeyringTests", dependencies: ["ChatCore", "GtkTestSupport", "Keyring"], swiftSettings: settings),

        // Message bodies: Markdown and HTML through the parsers MD4C and gumbo. With DEBUG a broken assertion of MD4C
        // ends the program; without it anything may follow.
        .target(name: "CMD4C", exclude: ["LICENSE.md", "README.md"], cSettings: [.define("DEBUG", to: "1")]),
        .systemLibrary(name: "CGumbo", pkgConfig: "gumbo", providers: [.apt(["libgumbo-dev"])]),
        .target(
            name: "MessageMarkup", dependencies: ["CGumbo", "CMD4C", "ChatCore", "Composer"], swiftSettings: settings),
        .target(
            name: "MarkupFuzzing", dependencies: ["ChatCore", "Composer", "ComposerFuzzing", "MessageMarkup"],
            swiftSettings: settings),
        .testTarget(
            name: "MessageMarkupTests",
            dependencies: ["ChatCore", "Composer", "ComposerFuzzing", "MarkupFuzzing", "MessageMarkup"],
            swiftSettings: settings),

        // Rooms as files: exports in three formats, imports of other programs' exports.
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .target(name: "JSONReading", dependencies: ["ChatCore"], swiftSettings: settings),
        .target(
            name: "JSONFuzzing", dependencies: ["ChatCore", "ComposerFuzzing", "JSONReading"], swiftSettings: settings),
        .testTarget(
            name: "JSONReadingTests",
            dependencies: ["ChatCore", "ComposerFuzzing", "JSONFuzzing", "JSONReading", "SeededRandom"],
            swiftSettings: settings),
        .target(
            name: "ChatArchive", dependencies: ["CArchive", "ChatCore", "Composer", "JSONReading", "MessageMarkup"],
            swiftSettings: settings),
        .testTarget(
            name: "ChatArchiveTests",
            dependencies: [
                "CMD4C", "ChatArchive", "ChatCore", "ChatStore", "ChatTestSupport", "Composer", "JSONReading",
                "LocalBackend",
                "SeededRandom",
            ],
            resources: [.copy("Exports")], swiftSettings: settings),

        // Screens without and with widgets, and the program.
        .target(
            name: "ChatViewModels", dependencies: ["ChatCore", "Composer", "MessageMarkup"],
            swiftSettings: mainActorSettings),
        .testTarget(
            name: "ChatViewModelsTests",
            dependencies: [
                "ChatCore", "ChatStore", "ChatTestSupport", "ChatViewModels", "Composer", "LocalBackend",
                "SeededRandom",
            ],
            swiftSettings: settings),
        .plugin(name: "CompileResources", capability: .buildTool()),
        .target(
            name: "ChatGtk",
            dependencies: [
                "CGtk", "CGtkSource", "ChatCore", "ChatViewModels", "Composer", "GtkKit", "PictureDecoding",
            ],
            swiftSettings: mainActorSettings, plugins: ["CompileResources"]),
        .testTarget(
            name: "ChatGtkTests",
            dependencies: [
                "CGtk", "ChatArchive", "ChatCore", "ChatGtk", "ChatStore", "ChatTestSupport", "ChatViewModels",
                "Composer", "GtkKit",
                "GtkTestSupport", "LocalBackend", "MessageMarkup", "PictureDecoding", "parlance-decode",
                "parlance-film", "SeededRandom",
            ], swiftSettings: settings),
        .executableTarget(
            name: "Gallery",
            dependencies: [
                "BenchmarkReport", "CGtk", "ChatCore", "ChatGtk", "ChatViewModels", "Composer", "GtkKit",
                "MessageMarkup",
            ],
            swiftSettings: mainActorSettings),
        // What `make new-app` begins with, built here so that it does build.
        .executableTarget(
            name: "ComposerTemplate", dependencies: ["ChatGtk", "ChatViewModels", "Composer", "GtkKit"],
            path: "Template/Sources",
            swiftSettings: mainActorSettings),
        .executableTarget(
            name: "TimelineBench",
            dependencies: [
                "BenchmarkReport", "CGtk", "ChatCore", "ChatGtk", "GtkKit", "MessageMarkup",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: mainActorSettings),
        .executableTarget(
            name: "parlance",
            dependencies: [
                "ChatArchive", "ChatCore", "ChatGtk", "ChatStore", "ChatViewModels", "Composer", "GtkKit",
                "Keyring", "LocalBackend", "MatrixBackend",
            ],
            swiftSettings: mainActorSettings),
        .testTarget(
            name: "ParlanceTests",
            dependencies: ["ChatTestSupport", "parlance"],
            swiftSettings: settings),
    ]
)

// A fuzzer brings its own main function, so its target exists only for `make fuzz`.
if Context.environment["PARLANCE_FUZZ"] != nil {
    for name in ["Composer", "JSON", "Markup", "Picture"] {
        package.targets.append(
            .executableTarget(
                name: "\(name)Fuzz",
                dependencies: name == "Picture"
                    ? ["PictureFuzzing"] : ["ComposerFuzzing", .target(name: "\(name)Fuzzing")],
                swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
    }
}
