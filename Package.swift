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
        .library(name: "Composer", targets: ["Composer"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    products: [],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CGtk", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .target(name: "GtkKit", dependencies: ["CGtk"], swiftSettings: mainActorSettings),
        .target(
            name: "Composer",
            dependencies: [.product(name: "_RopeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(name: "ComposerReplay", dependencies: ["Composer"], swiftSettings: settings),
        .testTarget(name: "ReplayTests", dependencies: ["ComposerReplay"], swiftSettings: settings),
        .executableTarget(name: "parlance-replay", dependencies: ["ComposerReplay"], swiftSettings: settings),
        .target(name: "ComposerFuzzing", dependencies: ["Composer"], swiftSettings: settings),
        .target(name: "ChatCore", swiftSettings: settings),
        .testTarget(name: "GtkKitTests", dependencies: ["GtkKit", "CGtk"], swiftSettings: settings),
        .testTarget(name: "ComposerTests", dependencies: ["Composer", "ComposerFuzzing"], swiftSettings: settings),
        .target(
            name: "ChatStore",
            dependencies: ["ChatCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(name: "LocalBackend", dependencies: ["ChatCore", "ChatStore"], swiftSettings: settings),
        .target(
            name: "ChatTestSupport", dependencies: ["ChatCore"], path: "Tests/ChatTestSupport", swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
        .testTarget(
            name: "ChatStoreTests",
            dependencies: [
                "ChatCore", "ChatStore", "ChatTestSupport", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LocalBackendTests", dependencies: ["ChatCore", "ChatStore", "ChatTestSupport", "LocalBackend"],
            swiftSettings: settings),
    ]
)

// A fuzzer brings its own main function, so its target exists only for `make fuzz`.
if Context.environment["PARLANCE_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "ComposerFuzz", dependencies: ["ComposerFuzzing"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
