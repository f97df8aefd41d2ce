import CGtk
import ChatCore
import ChatViewModels
import Foundation
import Glibc
import GtkKit

/// What can be done with the files of messages: show them small, open them in another program, save them.
final class MediaPresenter {
    let previews: MediaPreviews
    let avatars: AvatarLoader
    /// Told why something could not be done.
    var onFailure: ((ChatError) -> Void)?
    /// The pictures that a picture is one of, in their order.
    var images: () -> [MediaReference] = { [] }
    /// What is behind links; nil, or an answer of nil, where the user wants none or nobody tells.
    var linkPreviews: (() -> LinkPreviews?)?
    private(set) var viewer: ImageViewer?
    private let service: any MediaService

    /// - Parameter avatars: what is shared with other views of the account.
    init(service: any MediaService, avatars: AvatarLoader? = nil) {
        self.service = service
        self.avatars = avatars ?? AvatarLoader(service: service)
        previews = MediaPreviews(service: service)
    }

    /// Shows a picture large, with those before and after it.
    func view(_ media: MediaReference, over widget: Widget) {
        let all = images()
        let viewer = ImageViewer(self, over: widget)
        self.viewer = viewer
        viewer.onClose = { [weak self] in self?.viewer = nil }
        if let index = all.firstIndex(of: media) {
            viewer.show(all, at: index)
        } else {
            viewer.show([media], at: 0)
        }
    }

    /// Opens it in the program that the desktop has for its type.
    func open(_ media: MediaReference) {
        perform { [service] in
            try await service.namedFile(of: media)
        } then: { [weak self] file in
            AsyncCall.start {
                g_app_info_launch_default_for_uri_async(file.absoluteString, nil, nil, $0, $1)
            } _: { _, result in
                if g_app_info_launch_default_for_uri_finish(result, nil) == 0 { self?.onFailure?(.unreadableFile) }
            }
        }
    }

    /// Hands over the file with the content.
    /// - Parameter onFailure: comes instead, after the reader was told why.
    func withContent(
        of media: MediaReference, _ then: @escaping @MainActor (URL) -> Void,
        onFailure: @escaping @MainActor () -> Void = {}
    ) {
        perform({ [service] in try await service.content(of: media) }, then: then, onFailure: onFailure)
    }

    /// Asks where to, and copies it there. What is there already is replaced, which the dialog asks about.
    func save(_ media: MediaReference, over widget: Widget) {
        FileChooser.save(
            translated("Save File"), accept: translated("_Save"), name: media.name, over: widget
        ) { [weak self] target in
            guard let self, let target else { return }
            self.perform { [service = self.service] in
                try await Self.copy(try await service.content(of: media), to: target)
            } then: { _ in
            }
        }
    }

    private func perform<T: Sendable>(
        _ work: @escaping @Sendable () async throws -> T, then: @escaping @MainActor (T) -> Void,
        onFailure: @escaping @MainActor () -> Void = {}
    ) {
        // Whoever went on to another room is told too.
        let fail = self.onFailure
        Task {
            do { then(try await work()) } catch {
                fail?((error as? ChatError) ?? .storage(reason: "a file could not be copied"))
                onFailure()
            }
        }
    }

    @concurrent
    private static func copy(_ content: URL, to target: URL) async throws {
        // Beside its place first: what was there stays whole if the disk is full.
        let draft = target.deletingLastPathComponent().appending(path: ".\(UUID().uuidString).part")
        defer { try? FileManager.default.removeItem(at: draft) }
        try FileManager.default.copyItem(at: content, to: draft)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: draft.path)
        guard rename(draft.path, target.path) == 0 else { throw ChatError.storage(reason: "a file could not be saved") }
    }
}
