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
        .executable(name: "parlance-store-soak", targets: ["StoreSoak"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .target(name: "ChatCore", swiftSettings: settings),
        .target(
            name: "ChatStore",
            dependencies: ["ChatCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: settings),
        .target(name: "LocalBackend", dependencies: ["ChatCore", "ChatStore"], swiftSettings: settings),
        .executableTarget(name: "StoreSoak", dependencies: ["ChatCore", "ChatStore"], swiftSettings: settings),
        .target(
            name: "ChatTestSupport", dependencies: ["ChatCore"], path: "Tests/ChatTestSupport", swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
        .testTarget(
            name: "ChatStoreTests",
            dependencies: [
                "ChatCore", "ChatStore", "ChatTestSupport", "StoreSoak", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "LocalBackendTests", dependencies: ["ChatCore", "ChatStore", "ChatTestSupport", "LocalBackend"],
            swiftSettings: settings),
    ]
)
