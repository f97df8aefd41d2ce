import ChatGtk
import Foundation
import GtkKit

let restartedAt = ServiceRestart.time()
GLProbe.prepare()
DefaultTheme.prepare()
Localization.adopt(domain: "parlance", folder: InstalledFolders.locale)
do {
    try Resource.load(installed: InstalledFolders.resources)
} catch {
    FileHandle.standardError.write(Data("parlance: the user interface is missing: \(error.message)\n".utf8))
    exit(1)
}
let parlance = ParlanceApplication(restartedAt: restartedAt)
let status = parlance.run(CommandLine.arguments)
if status == 0, parlance.restarts { ServiceRestart.perform() }
exit(status)
