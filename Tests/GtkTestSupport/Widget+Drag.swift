import CGtk
public import Foundation
public import GtkKit

extension Widget {
    /// Adds a drag source that offers a file, as file managers do.
    @MainActor
    public func offerDrag(of file: URL) {
        var files: [OpaquePointer?] = [g_file_new_for_path(file.path)]
        let list = gdk_file_list_new_from_array(&files, 1)
        var value = GValue()
        g_value_init(&value, gdk_file_list_get_type())
        g_value_take_boxed(&value, UnsafeMutableRawPointer(list))
        let content = gdk_content_provider_new_for_value(&value)
        g_value_unset(&value)
        let source = DragSource(.copy)
        source.withPointer { gtk_drag_source_set_content($0, content) }
        g_object_unref(UnsafeMutableRawPointer(content))
        addController(source)
    }
}
