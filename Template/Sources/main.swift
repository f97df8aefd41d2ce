import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit

// A window with a composer. Sent messages appear above it; the composer handles everything else.
let application = Application(id: "org.example.ComposerTemplate")
application.onStartup { MainLoop.attachDispatchQueue() }
application.onActivate {
    do { try ComposerHost.register() } catch { fatalError("\(error)") }
    let messages = Box(.vertical, spacing: 6)
    let widget = ComposerHost.make()
    let host = ComposerHost.of(widget)
    host?.setContent(ScrolledWindow(messages))
    host?.bar?.placeholder = "Say something"
    host?.bar?.acceptsFiles = true
    host?.bar?.session.onSend = { message in
        if !message.text.isBlank { messages.append(Label(message.text.source)) }
        for file in message.attachments { messages.append(Label(file.name)) }
    }
    Window(application, title: "ComposerTemplate", width: 420, height: 560, content: widget).present()
    host?.bar?.grabFocus()
}
exit(application.run(CommandLine.arguments))
