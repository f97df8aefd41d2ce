// swift-tools-version: 6.2
import PackageDescription

/// The settings of every target: one language mode, no hidden imports, explicit existentials.
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

/// For modules whose work is done once, or waits for the user, the disk or a server: small code is as fast there. Never
/// for what a library product contains, which other packages could then not depend on.
let smallCode: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A module over the headers of a system library; it holds no logic.
func cLibrary(_ name: String, pkgConfig: String? = nil, apt: [String] = []) -> Target {
    .systemLibrary(
        name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig,
        providers: apt.isEmpty ? nil : [.apt(apt)])
}

/// Where the linker looks for the encryption library, which `make library` builds from Rust, as SwiftPM cannot: where it
/// is missing, or ENCRYPTION=0 leaves it out, the linker finds a stand-in. Which it is must not be decided here: SwiftPM
/// evaluates this file once, and knows nothing of libraries that come later.
let ratchets =
    (Context.environment["ENCRYPTION"] == "0" ? [] : [Context.packageDirectory + "/.build/ratchets"])
    + [Context.packageDirectory + "/Sources/CLibraries/CRatchetsAbsent/stand-in"]

let package = Package(
    name: "Parlance",
    products: [
        .library(name: "Composer", targets: ["Composer"]),
        .library(name: "ComposerGtk", targets: ["ComposerGtk", "ComposerSessions", "Composer", "GtkKit"]),
        .library(name: "TimelineGtk", targets: ["TimelineGtk", "GtkKit"]),
        .library(
            name: "ChatGtk",
            targets: [
                "ChatGtk", "ComposerGtk", "TimelineGtk", "ChatViewModels", "ComposerSessions", "Composer", "GtkKit",
            ]),
        .executable(name: "parlance", targets: ["parlance"]),
        .executable(name: "parlance-decode", targets: ["parlance-decode"]),
        .executable(name: "parlance-film", targets: ["parlance-film"]),
        .executable(name: "parlance-bench", targets: ["parlance-bench"]),
        .executable(name: "parlance-replay", targets: ["parlance-replay"]),
        .executable(name: "parlance-gallery", targets: ["parlance-gallery"]),
        .executable(name: "parlance-timeline-bench", targets: ["parlance-timeline-bench"]),
        .executable(name: "parlance-store-soak", targets: ["parlance-store-soak"]),
        .executable(name: "parlance-matrix-soak", targets: ["parlance-matrix-soak"]),
    ],
    // Exactly these, as Package.resolved is not committed: the same clone is the same program. A newer one is a commit of its
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
        cLibrary("CGtk", pkgConfig: "libadwaita-1", apt: ["libadwaita-1-dev"]),
        cLibrary("CGtkSource", apt: ["libgtksourceview-5-dev"]),
        cLibrary("CPulse", apt: ["libpulse-dev"]),
        cLibrary("CX11", pkgConfig: "x11", apt: ["libx11-dev"]),
        .target(
            name: "GtkKit", dependencies: ["CGtk", "CPulse", "MediaDecoding", "Sentences"],
            swiftSettings: mainActorSettings),
        .target(
            name: "GtkToolSupport", dependencies: ["CX11"], path: "Tools/GtkToolSupport", swiftSettings: settings),
        .target(
            name: "GtkTestSupport", dependencies: ["CGtk", "GtkKit", "GtkToolSupport"], path: "Tests/GtkTestSupport",
            swiftSettings: settings),
        .testTarget(name: "GtkKitTests", dependencies: ["CGtk", "GtkKit", "GtkTestSupport"], swiftSettings: settings),

        // Images and videos are untrusted: confined processes decode them.
        cLibrary("CPng", pkgConfig: "libpng", apt: ["libpng-dev"]),
        cLibrary("CJpeg", pkgConfig: "libjpeg", apt: ["libjpeg-dev"]),
        cLibrary("CGif", apt: ["libgif-dev"]),
        cLibrary("CLcms", pkgConfig: "lcms2", apt: ["liblcms2-dev"]),
        // Opened when a picture needs them, and linked to nothing: so without pkg-config.
        cLibrary("CTiff", apt: ["libtiff-dev"]),
        cLibrary("CHeif", apt: ["libheif-dev"]),
        cLibrary("CWebP", pkgConfig: "libwebpdemux", apt: ["libwebp-dev"]),
        cLibrary("CFFmpeg", pkgConfig: "libavformat", apt: ["libavformat-dev", "libswscale-dev"]),
        cLibrary("CConfinement"),
        .target(name: "MediaDecoding", path: "Sources/Decoding/MediaDecoding", swiftSettings: settings),
        .target(
            name: "ConfinedDecoding", dependencies: ["CConfinement", "MediaDecoding"],
            path: "Sources/Decoding/ConfinedDecoding", swiftSettings: settings),
        .target(
            name: "ImageDecoders",
            dependencies: [
                "CGif", "CHeif", "CJpeg", "CLcms", "CPng", "CTiff", "CWebP", "ConfinedDecoding", "MediaDecoding",
            ], path: "Sources/Decoding/ImageDecoders",
            // Optimized in debug builds too: a large picture would take them longer than any may.
            swiftSettings: settings + [.unsafeFlags(["-O"])]),
        .executableTarget(
            name: "parlance-decode", dependencies: ["ConfinedDecoding", "ImageDecoders", "MediaDecoding"],
            path: "Sources/Decoding/parlance-decode", swiftSettings: settings,
            // libde265 has to find it (OneThread.swift).
            linkerSettings: [
                .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=de265_start_worker_threads"])
            ]),
        .executableTarget(
            name: "parlance-film", dependencies: ["CFFmpeg", "ConfinedDecoding", "MediaDecoding"],
            path: "Sources/Decoding/parlance-film", swiftSettings: settings),
        .testTarget(
            name: "MediaDecodingTests",
            dependencies: [
                "CConfinement", "ChatTestSupport", "MediaDecoding", "Fuzzing", "ToolSupport", "parlance-decode",
                "parlance-film",
            ],
            resources: [.copy("Pictures")], swiftSettings: settings),

        // The composer engine, and its drivers.
        .target(
            name: "Composer",
            dependencies: [.product(name: "_RopeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(
            name: "Fuzzing",
            dependencies: [
                "CRatchets", "ChatCore", "Composer", "ConfinedDecoding", "CryptoTestSupport", "ImageDecoders",
                "JSONReading", "MatrixCrypto", "MediaDecoding", "MessageMarkup", "Ratchets",
            ],
            path: "Tools/Fuzzing", swiftSettings: settings),
        .target(name: "ToolSupport", path: "Tools/ToolSupport", swiftSettings: settings),
        .target(name: "ComposerReplay", dependencies: ["Composer", "JSONReading"], swiftSettings: settings),
        .executableTarget(name: "parlance-replay", dependencies: ["ComposerReplay"], swiftSettings: settings),
        .testTarget(
            name: "ComposerTests", dependencies: ["Composer", "Fuzzing", "ToolSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ReplayTests", dependencies: ["ComposerReplay", "parlance-replay", "ToolSupport"],
            resources: [.copy("Traces")],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "parlance-bench",
            dependencies: [
                "ToolSupport", "ChatArchive", "ChatCore", "LocalBackend", "ChatViewModels", "ChatStore", "Composer",
                "ComposerSessions", "CJpeg", "CPng", "CWebP", "JSONReading", "MessageMarkup", "MediaDecoding",
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tools/parlance-bench", swiftSettings: settings),

        // Fills values into translated sentences.
        .target(name: "Sentences", swiftSettings: settings),

        // Rooms and messages, and their storage.
        cLibrary("CStore", pkgConfig: "glib-2.0", apt: ["libglib2.0-dev"]),
        .target(name: "ChatCore", dependencies: ["Composer", "Sentences"], swiftSettings: settings),
        .target(
            name: "ChatStore",
            dependencies: ["CStore", "ChatCore", "Composer", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(name: "ChatOutbox", dependencies: ["ChatCore", "Composer"], swiftSettings: settings + smallCode),
        .target(
            name: "LocalBackend", dependencies: ["ChatCore", "ChatStore", "Composer", "MessageMarkup"],
            swiftSettings: settings + smallCode),
        .executableTarget(
            name: "parlance-store-soak",
            dependencies: ["ChatCore", "ChatOutbox", "ChatStore", "Composer", "ToolSupport"],
            path: "Tools/parlance-store-soak", swiftSettings: settings),
        .target(
            name: "ChatTestSupport", dependencies: ["ChatCore", "Composer"], path: "Tests/ChatTestSupport",
            resources: [.copy("Videos"), .copy("Stores")], swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
        .testTarget(
            name: "ChatStoreTests",
            dependencies: [
                "ChatCore", "ChatStore", "ChatTestSupport", "parlance-store-soak",
                .product(name: "GRDB", package: "GRDB.swift"), "ToolSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ChatOutboxTests",
            dependencies: ["ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "Composer", "ToolSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "LocalBackendTests",
            dependencies: ["ChatCore", "ChatStore", "ChatTestSupport", "Composer", "LocalBackend"],
            swiftSettings: settings),

        // End-to-end encryption: a C header, values over it, and the rules of Matrix; no network, no store, no clock.
        cLibrary("CRatchets"),
        .target(
            name: "CRatchetsAbsent", path: "Sources/CLibraries/CRatchetsAbsent", exclude: ["stand-in"]),
        .target(
            name: "Ratchets", dependencies: ["CRatchets", "CRatchetsAbsent"], swiftSettings: settings,
            linkerSettings: [.unsafeFlags(ratchets.map { "-L" + $0 }), .linkedLibrary("ratchets")]),
        .testTarget(
            name: "RatchetsTests", dependencies: ["Fuzzing", "Ratchets", "ToolSupport"], swiftSettings: settings),

        .target(
            name: "MatrixCrypto", dependencies: ["ChatCore", "JSONReading", "Ratchets"],
            swiftSettings: settings + smallCode),
        .testTarget(
            name: "MatrixCryptoTests",
            dependencies: [
                "ChatCore", "CryptoTestSupport", "Fuzzing", "JSONReading", "MatrixCrypto", "Ratchets", "ToolSupport",
            ],
            swiftSettings: settings),
        .target(
            name: "CryptoTestSupport", dependencies: ["ChatCore", "JSONReading", "MatrixCrypto", "Ratchets"],
            path: "Tests/CryptoTestSupport", swiftSettings: settings),

        // Matrix: what only it needs is in this one target.
        cLibrary("CCurl", apt: ["libcurl4-openssl-dev"]),
        .target(
            name: "MatrixBackend",
            dependencies: [
                "CCurl", "ChatCore", "ChatOutbox", "ChatStore", "Composer", "JSONReading", "MatrixCrypto",
                "MessageMarkup", "Ratchets",
            ],
            swiftSettings: settings + smallCode),
        .executableTarget(
            name: "parlance-matrix-soak",
            dependencies: [
                "ToolSupport", "ChatCore", "ChatStore", "Composer", "CryptoTestSupport", "JSONReading", "MatrixBackend",
                "MatrixCrypto", "Ratchets",
            ],
            path: "Tools/parlance-matrix-soak", swiftSettings: settings),
        .target(
            name: "AccountFuzzing",
            dependencies: [
                "ChatCore", "CryptoTestSupport", "Fuzzing", "JSONReading", "MatrixBackend", "MatrixCrypto", "Ratchets",
            ],
            path: "Tools/AccountFuzzing", swiftSettings: settings),
        .testTarget(
            name: "MatrixBackendTests",
            dependencies: [
                "AccountFuzzing", "ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "Composer",
                "CryptoTestSupport",
                "Fuzzing", "JSONReading", "MatrixBackend", "MatrixCrypto", "Ratchets", "ToolSupport",
            ], swiftSettings: settings),
        // Over a real homeserver, by themselves: `build-aux/test` starts one for them.
        .testTarget(
            name: "MatrixServerTests",
            dependencies: [
                "ChatArchive", "ChatCore", "ChatOutbox", "ChatStore", "ChatTestSupport", "ChatViewModels",
                "Composer", "CryptoTestSupport", "Fuzzing", "JSONReading", "LocalBackend", "MatrixBackend",
                "MatrixCrypto",
                "MessageMarkup", "Ratchets", "ToolSupport", "parlance-matrix-soak",
            ], swiftSettings: settings),

        // What signs accounts in, in the desktop's keyring.
        cLibrary("CSecret", apt: ["libsecret-1-dev"]),
        .target(
            name: "Keyring", dependencies: ["CGtk", "CSecret", "ChatCore", "GtkKit"],
            swiftSettings: mainActorSettings + smallCode),
        .testTarget(
            name: "KeyringTests", dependencies: ["ChatCore", "GtkTestSupport", "Keyring"], swiftSettings: settings),

        // Message bodies: Markdown and HTML through the parsers MD4C and gumbo. With DEBUG a broken assertion of MD4C
        // ends the program; without it anything may follow.
        .target(
            name: "CMD4C", path: "Sources/CLibraries/CMD4C", exclude: ["LICENSE.md", "README.md"],
            cSettings: [.define("DEBUG", to: "1")]),
        cLibrary("CGumbo", pkgConfig: "gumbo", apt: ["libgumbo-dev"]),
        .target(
            name: "MessageMarkup", dependencies: ["CGumbo", "CMD4C", "ChatCore", "Composer"], swiftSettings: settings),
        .testTarget(
            name: "MessageMarkupTests",
            dependencies: ["ChatCore", "Composer", "Fuzzing", "MessageMarkup"],
            swiftSettings: settings),

        // Rooms as files: exports in three formats, imports of other programs' exports.
        cLibrary("CArchive", apt: ["libarchive-dev"]),
        .target(name: "JSONReading", swiftSettings: settings),
        .testTarget(
            name: "JSONReadingTests",
            dependencies: ["Fuzzing", "JSONReading", "ToolSupport"],
            swiftSettings: settings),
        .target(
            name: "ChatArchive", dependencies: ["CArchive", "ChatCore", "Composer", "JSONReading", "MessageMarkup"],
            swiftSettings: settings + smallCode),
        .testTarget(
            name: "ChatArchiveTests",
            dependencies: [
                "CMD4C", "ChatArchive", "ChatCore", "ChatStore", "ChatTestSupport", "Composer", "JSONReading",
                "LocalBackend", "MessageMarkup", "ToolSupport",
            ],
            resources: [.copy("Exports")], swiftSettings: settings),

        // The one user of Enchant: opened with the first word that is checked, and linked to nothing: so without
        // pkg-config.
        cLibrary("CEnchant", apt: ["libenchant-2-dev"]),
        .target(
            name: "Spelling", dependencies: ["CEnchant", "ComposerSessions"], swiftSettings: settings + smallCode),
        .testTarget(
            name: "SpellingTests", dependencies: ["ChatTestSupport", "Composer", "ComposerSessions", "Spelling"],
            swiftSettings: settings),

        // Screens without and with widgets, and the program.
        .target(
            name: "ComposerSessions", dependencies: ["ChatCore", "Composer", "MessageMarkup"],
            swiftSettings: mainActorSettings),
        .testTarget(
            name: "ComposerSessionsTests",
            dependencies: ["ChatCore", "ChatTestSupport", "Composer", "ComposerSessions"],
            swiftSettings: settings),
        .target(
            name: "ChatViewModels", dependencies: ["ChatCore", "Composer", "ComposerSessions", "MessageMarkup"],
            swiftSettings: mainActorSettings),
        .testTarget(
            name: "ChatViewModelsTests",
            dependencies: [
                "ChatArchive", "ChatCore", "ChatStore", "ChatTestSupport", "ChatViewModels", "Composer",
                "ComposerSessions", "LocalBackend", "MessageMarkup", "ToolSupport",
            ],
            swiftSettings: settings),
        .target(name: "TimelineGtk", dependencies: ["CGtk", "GtkKit"], swiftSettings: mainActorSettings),
        .testTarget(
            name: "TimelineGtkTests", dependencies: ["CGtk", "GtkKit", "GtkTestSupport", "TimelineGtk", "ToolSupport"],
            swiftSettings: settings),
        .target(
            name: "MediaGtk", dependencies: ["CGtk", "CJpeg", "ChatCore", "GtkKit", "MediaDecoding"],
            swiftSettings: mainActorSettings),
        .testTarget(
            name: "MediaGtkTests",
            dependencies: [
                "CGtk", "ChatCore", "ChatTestSupport", "GtkKit", "GtkTestSupport", "MediaDecoding", "MediaGtk",
                "parlance-decode", "parlance-film",
            ], swiftSettings: settings),
        .plugin(name: "CompileResources", capability: .buildTool()),
        .target(
            name: "ComposerGtk",
            dependencies: ["CGtk", "ChatCore", "Composer", "ComposerSessions", "GtkKit", "MediaGtk"],
            swiftSettings: mainActorSettings, plugins: ["CompileResources"]),
        .testTarget(
            name: "ComposerGtkTests",
            dependencies: [
                "CGtk", "ChatCore", "ChatTestSupport", "Composer", "ComposerGtk", "ComposerSessions", "GtkKit",
                "GtkTestSupport", "MediaGtk", "parlance-decode", "ToolSupport",
            ], swiftSettings: settings),
        .target(
            name: "ChatGtk",
            dependencies: [
                "CGtk", "CGtkSource", "ChatCore", "ChatViewModels", "Composer", "ComposerGtk", "GtkKit", "MediaGtk",
                "TimelineGtk",
            ],
            swiftSettings: mainActorSettings, plugins: ["CompileResources"]),
        .testTarget(
            name: "ChatGtkTests",
            dependencies: [
                "CGtk", "ChatArchive", "ChatCore", "ChatGtk", "ChatStore", "ChatTestSupport", "ChatViewModels",
                "Composer", "ComposerGtk", "ComposerSessions", "GtkKit", "GtkTestSupport", "LocalBackend",
                "MediaDecoding", "MediaGtk", "MessageMarkup", "Spelling", "parlance-decode", "parlance-film",
                "parlance-gallery", "TimelineGtk", "ToolSupport",
            ], swiftSettings: settings),
        .executableTarget(
            name: "parlance-gallery",
            dependencies: [
                "ToolSupport", "CGtk", "ChatCore", "ChatGtk", "ChatViewModels", "Composer", "ComposerGtk",
                "ComposerSessions", "GtkKit", "GtkToolSupport", "MessageMarkup", "TimelineGtk",
            ],
            path: "Tools/parlance-gallery", swiftSettings: mainActorSettings),
        // What `make new-app` begins with, built here so that it does build.
        .executableTarget(
            name: "ComposerTemplate", dependencies: ["Composer", "ComposerGtk", "ComposerSessions", "GtkKit"],
            path: "Template/Sources",
            swiftSettings: mainActorSettings),
        .executableTarget(
            name: "parlance-timeline-bench",
            dependencies: [
                "ToolSupport", "CGtk", "ChatCore", "ChatGtk", "GtkKit", "MessageMarkup", "TimelineGtk",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Tools/parlance-timeline-bench", swiftSettings: mainActorSettings),
        .executableTarget(
            name: "parlance",
            dependencies: [
                "ChatArchive", "ChatCore", "ChatGtk", "ChatStore", "ChatViewModels", "Composer", "ComposerGtk",
                "ComposerSessions", "GtkKit", "Keyring", "LocalBackend", "MatrixBackend", "Ratchets", "Spelling",
            ],
            swiftSettings: mainActorSettings + smallCode,
            linkerSettings: [
                // lld links faster than GNU gold. The symbol: DispatchMonitor.swift.
                .unsafeFlags(["-use-ld=lld", "-Xlinker", "--wrap=dispatch_source_set_timer"]),
                // Saves 5 MB: lld packs the 115,000 relative relocations, which glibc 2.36 reads, and 25,000 symbols
                // that nothing looks up are not exported, although the toolchain's static-stdlib-args.lnk asks for it.
                // Functions of the same code become one, also where their address is used, as it is of nearly all in
                // Swift's tables: nothing tells two of them apart by that.
                .unsafeFlags(
                    [
                        "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker", "--icf=all",
                        "-Xlinker", "--no-export-dynamic",
                    ], .when(configuration: .release)),
            ]),
        .testTarget(
            name: "ParlanceTests",
            dependencies: ["ChatCore", "ChatStore", "ChatTestSupport", "LocalBackend", "parlance"],
            swiftSettings: settings,
            // For the bundle of all tests: GNU gold takes more than a second longer, at every change.
            linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
    ]
)

// A fuzzer brings its own main function, so its target exists only for `make fuzz`.
if Context.environment["PARLANCE_FUZZ"] != nil {
    for name in ["composer", "crypto", "image", "json", "markup", "ratchets"] {
        package.targets.append(
            .executableTarget(
                name: "parlance-fuzz-\(name)",
                dependencies: name == "crypto" ? ["AccountFuzzing", "Fuzzing"] : ["Fuzzing"],
                path: "Tools/parlance-fuzz-\(name)",
                swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
    }
}
