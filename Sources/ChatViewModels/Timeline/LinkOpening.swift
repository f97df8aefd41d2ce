public import ChatCore

/// How a link in a message opens.
public nonisolated enum LinkOpening: Equatable, Sendable {
    /// A room or user, which this window shows; in the default application if it shows no addresses.
    case address(String)
    /// In the default application.
    case application(address: String)
    case confirmation(LinkConfirmation)

    public init(_ link: BodyLink) {
        let address = link.target.address
        if !link.warnings.isEmpty || link.target.scheme == .ftp {
            self = .confirmation(LinkConfirmation(link))
        } else if ChatAddress(address) != nil {
            self = .address(address)
        } else {
            self = .application(address: address)
        }
    }
}

/// The question before a link that is suspicious, or that the user has not seen.
public nonisolated struct LinkConfirmation: Equatable, Sendable {
    /// How many characters of the address are shown.
    private static let maxLength = 300

    private let link: BodyLink

    public init(_ link: BodyLink) {
        self.link = link
    }

    public var address: String { link.target.address }
    /// Whether the link is likely to be deceptive: opening it is not the default then.
    public var isSuspicious: Bool { link.warnings.isSuspicious }
    /// FTP links can only be copied: current desktops have no handler that asks before it downloads.
    public var canOpen: Bool { link.target.scheme != .ftp }

    public func heading(_ translator: Translator) -> String {
        isSuspicious ? translator("Open Suspicious Link?") : translator("Open Link?")
    }

    /// The link's target and what is suspicious about it.
    /// - Parameter asciiHost: returns an internationalized host name in ASCII.
    public func body(_ translator: Translator, asciiHost: (String) -> String) -> String {
        let host = link.target.host ?? ""
        var paragraphs = [address.count > Self.maxLength ? address.prefix(Self.maxLength) + "…" : address]
        if link.warnings.contains(.namesAnotherHost) {
            paragraphs.append(translator("The link text shows a different address than the one it opens."))
        }
        if link.warnings.contains(.credentials) {
            paragraphs.append(
                translator("The link opens %@. The text before the “@” is a username, not the site.").replacing(
                    "%@", with: host)
            )
        }
        if link.warnings.contains(.internationalHost) {
            paragraphs.append(
                translator("The address contains look-alike characters. Its ASCII form is %@.")
                    .replacing("%@", with: asciiHost(host)))
        }
        if link.warnings.contains(.hiddenCharacters) {
            paragraphs.append(
                translator("The link text contains invisible or direction-changing characters."))
        }
        return paragraphs.joined(separator: "\n\n")
    }
}
