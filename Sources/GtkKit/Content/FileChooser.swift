import CGtk
public import Foundation

/// Native file dialogs through GtkFileChooserNative, which GTK 4.8 has and which uses the portal inside a sandbox.
public enum FileChooser {
    /// The files that a chooser offers.
    public struct Filter: Sendable {
        let name: String
        let types: [String]

        /// - Parameters:
        ///   - name: What the files are, such as “Images”.
        ///   - types: Media types, such as `image/*`.
        public init(_ name: String, types: [String]) {
            self.name = name
            self.types = types
        }
    }

    /// Asks for files to open.
    /// - Parameters:
    ///   - filter: The files to choose among; `nil` for all.
    ///   - done: Receives an empty array if the user cancels.
    public static func open(
        _ title: String, accept: String, filter: Filter? = nil, over parent: Widget?,
        _ done: @escaping @MainActor ([URL]) -> Void
    ) {
        let chooser = make(title, GTK_FILE_CHOOSER_ACTION_OPEN, accept, parent)
        gtk_file_chooser_set_select_multiple(chooser.cast(), 1)
        if let filter { add(filter, to: chooser) }
        show(chooser, done)
    }

    /// Asks for one file to open.
    public static func openFile(
        _ title: String, accept: String, over parent: Widget?, _ done: @escaping @MainActor (URL?) -> Void
    ) {
        show(make(title, GTK_FILE_CHOOSER_ACTION_OPEN, accept, parent)) { done($0.first) }
    }

    /// Asks for a folder.
    public static func openFolder(
        _ title: String, accept: String, over parent: Widget?, _ done: @escaping @MainActor (URL?) -> Void
    ) {
        show(make(title, GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, accept, parent)) { done($0.first) }
    }

    /// Asks for a file name to save to, with a suggestion.
    public static func save(
        _ title: String, accept: String, name: String, over parent: Widget?,
        _ done: @escaping @MainActor (URL?) -> Void
    ) {
        let chooser = make(title, GTK_FILE_CHOOSER_ACTION_SAVE, accept, parent)
        gtk_file_chooser_set_current_name(chooser.cast(), name)
        show(chooser) { done($0.first) }
    }

    private static func add(_ filter: Filter, to chooser: Object) {
        let files = Object(owning: UnsafeMutableRawPointer(gtk_file_filter_new()))
        gtk_file_filter_set_name(files.cast(), filter.name)
        for type in filter.types { gtk_file_filter_add_mime_type(files.cast(), type) }
        gtk_file_chooser_add_filter(chooser.cast(), files.cast())
    }

    private static func make(
        _ title: String, _ action: GtkFileChooserAction, _ accept: String, _ parent: Widget?
    ) -> Object {
        let window = parent.flatMap { gtk_widget_get_root($0.cast()) }
            .map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: GtkWindow.self) }
        let chooser = Object(
            owning: UnsafeMutableRawPointer(gtk_file_chooser_native_new(title, window, action, accept, nil)))
        gtk_native_dialog_set_modal(chooser.cast(), 1)
        return chooser
    }

    private static func show(_ chooser: Object, _ done: @escaping @MainActor ([URL]) -> Void) {
        // GTK holds no reference to a native dialog: the closure keeps it alive until the response.
        var retainedChooser: Object? = chooser
        chooser.connect("response") { arguments in
            guard let chooser = retainedChooser else { return }
            retainedChooser = nil
            done(arguments.int(0) == Int(GTK_RESPONSE_ACCEPT.rawValue) ? files(of: chooser) : [])
            gtk_native_dialog_destroy(chooser.cast())
        }
        gtk_native_dialog_show(chooser.cast())
    }

    private static func files(of chooser: Object) -> [URL] {
        guard let files = gtk_file_chooser_get_files(chooser.cast()) else { return [] }
        defer { g_object_unref(UnsafeMutableRawPointer(files)) }
        return (0..<g_list_model_get_n_items(files)).compactMap { index in
            guard let file = g_list_model_get_item(files, index) else { return nil }
            defer { g_object_unref(file) }
            return FileInformation.url(of: OpaquePointer(file))
        }
    }
}
