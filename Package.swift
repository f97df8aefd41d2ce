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
    products: [],
    dependencies: [],
    targets: [
        .systemLibrary(name: "CGtk", pkgConfig: "libadwaita-1", providers: [.apt(["libadwaita-1-dev"])]),
        .target(name: "GtkKit", dependencies: ["CGtk"], swiftSettings: mainActorSettings),
        .target(name: "ChatCore", swiftSettings: settings),
        .testTarget(name: "GtkKitTests", dependencies: ["GtkKit", "CGtk"], swiftSettings: settings),
        .testTarget(name: "ChatCoreTests", dependencies: ["ChatCore"], swiftSettings: settings),
    ]
)
