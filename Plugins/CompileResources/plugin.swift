import Foundation
import PackagePlugin

/// Compiles what `resources/TARGET.gresource.xml` lists into a GResource bundle, which becomes a resource of the target.
@main
struct CompileResources: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let folder = context.package.directoryURL.appending(path: "resources")
        let manifest = folder.appending(path: "\(target.name).gresource.xml")
        let icons = context.package.directoryURL.appending(path: "data/icons")
        let bundle = context.pluginWorkDirectoryURL.appending(path: "\(target.name).gresource")
        return [
            .buildCommand(
                displayName: "Compiling the GResource bundle of \(target.name)",
                executable: try compiler(),
                arguments: ["--sourcedir", folder.path, "--target", bundle.path, manifest.path],
                inputFiles: [manifest] + files(in: folder) + files(in: icons), outputFiles: [bundle])
        ]
    }

    private func files(in folder: URL) -> [URL] {
        let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
        return (found?.compactMap { $0 as? URL } ?? []).filter { !$0.hasDirectoryPath }.sorted { $0.path < $1.path }
    }

    private func compiler() throws -> URL {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        for folder in folders {
            let candidate = URL(filePath: String(folder)).appending(path: "glib-compile-resources")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        Diagnostics.error("glib-compile-resources is missing: `make deps` installs it")
        throw CocoaError(.fileNoSuchFile)
    }
}
