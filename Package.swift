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
        .executable(name: "parlance-replay", targets: ["parlance-replay"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        .target(
            name: "Composer",
            dependencies: [.product(name: "_RopeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(name: "ComposerReplay", dependencies: ["Composer"], swiftSettings: settings),
        .testTarget(
            name: "ReplayTests", dependencies: ["ComposerReplay"], resources: [.copy("Traces")], swiftSettings: settings
        ),
        .executableTarget(name: "Benchmarks", dependencies: ["Composer"], swiftSettings: settings),
        .executableTarget(name: "parlance-replay", dependencies: ["ComposerReplay"], swiftSettings: settings),
        .target(name: "ComposerFuzzing", dependencies: ["Composer"], swiftSettings: settings),
        .testTarget(name: "ComposerTests", dependencies: ["Composer", "ComposerFuzzing"], swiftSettings: settings),
        .target(name: "ChatCore", swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
    ]
)

// A fuzzer brings its own main function, so its target exists only for `make fuzz`.
if Context.environment["PARLANCE_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "ComposerFuzz", dependencies: ["ComposerFuzzing"],
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}
