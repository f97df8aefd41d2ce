import Composer
import ComposerGtk
import ComposerSessions
import Foundation
import GtkKit

// A window with a composer. Sent messages appear above it; the composer handles everything else.
let application = Application(id: "org.example.ComposerTemplate")
application.onStartup { MainLoop.attachDispatchQueue() }
application.onActivate {
    let messages = Box(.vertical, spacing: 6)
    let composer = ComposerBar()
    composer.placeholder = "Say something"
    composer.acceptsFiles = true
    composer.onSend = { message in
        if !message.text.isBlank { messages.append(Label(message.text.source)) }
        for file in message.attachments { messages.append(Label(file.name)) }
    }
    let host = ComposerHost()
    host.setContent(ScrolledWindow(messages))
    host.setComposer(composer.widget)
    Window(application, title: "ComposerTemplate", width: 420, height: 560, content: host.widget).present()
    composer.grabFocus()
}
exit(application.run(CommandLine.arguments))
