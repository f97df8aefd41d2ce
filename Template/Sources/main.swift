import ChatGtk
import ChatViewModels
import Composer
import Foundation
import GtkKit

// A window with a composer. What is sent is shown above it; everything else the composer does by itself.
let application = Application(id: "org.example.ComposerTemplate")
application.onStartup { MainLoop.attachDispatchQueue() }
application.onActivate {
    do { try ComposerBar.register() } catch { fatalError("\(error)") }
    let messages = Box(.vertical, spacing: 6)
    let composer = ComposerBar.make()
    let bar = ComposerBar.of(composer)
    bar?.placeholder = "Say something"
    bar?.session.onSend = { message in messages.append(Label(message.text)) }

    let content = Box(.vertical, spacing: 12)
    content.append(ScrolledWindow(messages))
    content.append(composer)
    Window(application, title: "ComposerTemplate", width: 420, height: 560, content: content).present()
    bar?.grabFocus()
}
exit(application.run(CommandLine.arguments))
