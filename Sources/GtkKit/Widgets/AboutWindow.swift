import CGtk

/// Displays information about a program.
public final class AboutWindow: Dialog {
    public convenience init(name: String, version: String, icon: String, developer: String, comments: String) {
        self.init(sinking: shim_about_new())
        setProperty("application-name", name)
        setProperty("application-icon", icon)
        setProperty("developer-name", developer)
        setProperty("version", version)
        setProperty("comments", comments)
    }

    public enum License: Sendable {
        case apache2, bsd3, mit
        /// One that GTK does not know.
        case other(name: String, url: String)

        fileprivate var gtk: GtkLicense {
            switch self {
            case .apache2: GTK_LICENSE_APACHE_2_0
            case .bsd3: GTK_LICENSE_BSD_3
            case .mit: GTK_LICENSE_MIT_X11
            case .other: GTK_LICENSE_CUSTOM
            }
        }

        /// As markup; `nil` for a license of which GTK has the text.
        fileprivate var text: String? {
            guard case .other(let name, let url) = self else { return nil }
            return #"<a href="\#(Markup.escaped(url))">\#(Markup.escaped(name))</a>"#
        }
    }

    public func setLinks(website: String, issues: String) {
        setProperty("website", website)
        setProperty("issue-url", issues)
    }

    public func setCopyright(_ text: String) { setProperty("copyright", text) }

    /// - Parameter notes: Release notes in AppStream markup: paragraphs and lists.
    public func setReleaseNotes(_ notes: String, version: String) {
        setProperty("release-notes-version", version)
        setProperty("release-notes", notes)
    }

    /// - Parameter names: One name per line.
    public func setTranslators(_ names: String) { setProperty("translator-credits", names) }

    public func setLicense(_ license: License) {
        setEnumeration("license-type", Int32(license.gtk.rawValue), gtk_license_get_type())
    }

    /// Sets the troubleshooting information, which is not translated.
    public func setDebugInfo(_ text: String) { setProperty("debug-info", text) }

    /// Adds the license of a bundled library.
    public func addLegalSection(_ title: String, copyright: String, _ license: License) {
        shim_about_add_license(pointer, title, copyright, license.gtk, license.text)
    }
}
