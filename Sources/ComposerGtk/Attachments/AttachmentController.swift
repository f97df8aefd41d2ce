import ChatCore
import Composer
import ComposerSessions
import Foundation
import GtkKit
import MediaGtk

/// Adds files to a composer through the file chooser, paste and drag and drop, and owns the tray that shows them.
final class AttachmentController {
    let tray: AttachmentTray
    /// A menu of what can be attached; belongs in the composer's start slot.
    let button = MenuButton()
    private let actions = ActionGroup()
    /// Called when the focus should return to the text.
    var onDone: (() -> Void)?
    /// Whether the user sees the composer.
    var isShown: () -> Bool = { true }
    /// The maximum number of bytes of pasted or dropped content that is no file.
    var contentLimit = ChatLimits.attachmentBytes

    private let model: any ComposerModel
    private let queue: AttachmentQueue
    private var drops: FileDropArea?
    private var rendering: Rendering?

    /// Returns `nil` if the composer does not accept files.
    init?(model: any ComposerModel) {
        guard let queue = model.attachments else { return nil }
        self.model = model
        self.queue = queue
        queue.inspect = { file, type in
            let family = type.prefix { $0 != "/" }
            return switch family {
            case "image": await MediaInfo.ofImage(file)
            case "video", "audio": await MediaInfo.ofVideoOrAudio(file)
            default: nil
            }
        }
        tray = AttachmentTray(
            model: model, queue: queue,
            previews: MediaPreviews { [weak queue] media in
                guard let queue else { throw ChatError.notFound }
                return try await queue.content(of: media)
            })
        tray.onAdd = { [weak self] in self?.choose() }
        tray.onLeave = { [weak self] in self?.onDone?() }
        setUpButton()
        rendering = Rendering(
            { [weak model] in model?.composer.editing == nil }, { [weak self] in self?.button.isSensitive = $0 })
    }

    private func setUpButton() {
        button.iconName = "parlance-add-symbolic"
        button.tooltip = translated("Attach Files")
        button.setAccessibleLabel(translated("Attach Files"))
        for style in ["flat", "circular", "parlance-composer-button"] { button.addStyle(style) }
        button.opensUpward()
        let menu = Menu()
        menu.append(translated("_Image or Video…"), "attach.media")
        menu.append(translated("_File…"), "attach.file")
        actions.add("media") { [weak self] in
            self?.choose(FileChooser.Filter(translated("Images and Videos"), types: ["image/*", "video/*"]))
        }
        actions.add("file") { [weak self] in self?.choose() }
        button.insertActions(actions, prefix: "attach")
        button.setMenu(menu)
    }

    /// Accepts files dropped anywhere on `area`, in place of any previous area, and highlights it during a drag.
    /// - Parameter overlay: The overlay for a hint, or `nil` for none.
    func acceptDrops(on area: Widget, hint overlay: Overlay?) {
        drops?.end()
        drops = FileDropArea(area, overlay: overlay, accepts: { [weak self] in self?.acceptsDrop(of: $0) ?? false }) {
            [weak self] offer in self?.handle(offer)
        }
    }

    /// Ends ``acceptDrops(on:hint:)``, for a host that has named another area to the bar.
    func endDrops() {
        drops?.end()
        drops = nil
    }

    /// Adds the clipboard's content if it is files or media.
    /// - Returns: `false` if it is text, which the editor pastes.
    func handlePaste(from widget: Widget) -> Bool {
        guard let offer = ContentOffer.clipboard(of: widget), accepts(offer.types) else { return false }
        handle(offer)
        return true
    }

    // MARK: Adding

    /// Whether a drop of these MIME types is accepted. The area for drops may be larger than the bar and stay when the
    /// host hides that, and the message must not change unseen.
    func acceptsDrop(of types: [String]) -> Bool { isShown() && accepts(types) }

    private func accepts(_ types: [String]) -> Bool {
        guard queue.acceptsFiles else { return false }
        return switch queue.limits.choice(among: types) {
        case .files, .media: true
        case .fragment, .text, .nothing: false
        }
    }

    /// Adds pasted or dropped content. Finishes a drop.
    func handle(_ offer: ContentOffer) {
        switch queue.limits.choice(among: offer.types) {
        case .files:
            offer.readFiles { [weak self] files in
                guard let self else { return offer.finishDrop(isAccepted: false) }
                // An empty list means web links, which are inserted as text (SLK-37).
                if files.isEmpty { self.handleText(offer) } else { self.finish(offer, files) }
            }
        case .media(let type):
            let limit = contentLimit
            offer.readData(type, limit: limit) { [weak self] result in
                switch result {
                case .success(let data):
                    offer.finishDrop(isAccepted: true)
                    self?.add([Self.item(data, type)])
                case .failure(let failure):
                    offer.finishDrop(isAccepted: false)
                    self?.queue.report(Self.error(failure, limit: limit))
                }
            }
        case .fragment, .text, .nothing: handleText(offer)
        }
    }

    private func finish(_ offer: ContentOffer, _ files: [URL]) {
        offer.finishDrop(isAccepted: true)
        addFiles(files)
    }

    private func handleText(_ offer: ContentOffer) {
        offer.readText { [weak self] text in
            offer.finishDrop(isAccepted: text != nil)
            guard let text, !text.isEmpty, let self else { return }
            self.model.handle(.paste([.text(text)]))
        }
    }

    /// The error that the user is shown for content that was not read.
    static func error(_ failure: ContentStream.Failure, limit: Int) -> ChatError {
        switch failure {
        case .unreadable: .unreadableFile
        case .tooLarge: .fileTooLarge(limit: limit)
        }
    }

    private static func item(_ data: Data, _ type: String) -> AttachmentQueue.Item {
        AttachmentQueue.Item(
            content: .data(data), name: AttachmentText.desktop.nameOfPastedImage(type), type: type, bytes: data.count)
    }

    /// Adds local files. Reports folders and other non-regular files as `unreadableFile`.
    func addFiles(_ files: [URL]) {
        FileInformation.query(files) { [weak self] found in
            let regular = found.filter(\.isRegular)
            self?.add(
                regular.map {
                    AttachmentQueue.Item(content: .file($0.url), name: $0.name, type: $0.type, bytes: $0.size)
                })
            if regular.count < files.count { self?.queue.report(.unreadableFile) }
        }
    }

    private func add(_ items: [AttachmentQueue.Item]) {
        queue.add(items)
        onDone?()
    }

    /// Opens the file chooser.
    /// - Parameter filter: The files to choose among; `nil` for all.
    func choose(_ filter: FileChooser.Filter? = nil) {
        guard button.isSensitive else { return }
        FileChooser.open(translated("Attach Files"), accept: translated("_Attach"), filter: filter, over: button) {
            [weak self] files in
            if files.isEmpty { self?.onDone?() } else { self?.addFiles(files) }
        }
    }
}
