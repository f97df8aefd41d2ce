public import ChatCore

/// How a link in a message opens.
public nonisolated enum LinkOpening: Equatable, Sendable {
    /// A room or user, shown in this window, or in the default application if the window cannot open addresses.
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

/// The confirmation before opening a link that is suspicious, or whose target the user has not seen.
public nonisolated struct LinkConfirmation: Equatable, Sendable {
    /// How many characters of the address are shown.
    private static let maxLength = 300

    private let link: BodyLink

    public init(_ link: BodyLink) {
        self.link = link
    }

    public var address: String { link.target.address }
    /// Whether the link is likely to be deceptive, so that opening it is not the default answer.
    public var isSuspicious: Bool { link.warnings.isSuspicious }
    /// FTP links can only be copied: current desktops have no handler that asks before downloading.
    public var canOpen: Bool { link.target.scheme != .ftp }

    /// The user's possible answers.
    public nonisolated enum Response: String, Equatable, Sendable {
        case cancel, copy, open
    }

    /// The answer of the Return key; `nil` for none.
    public var defaultResponse: Response? { !canOpen ? nil : isSuspicious ? .cancel : .open }

    public func heading(_ translator: Translator) -> String {
        guard canOpen else { return translator("Copy Link?") }
        return isSuspicious ? translator("Open Suspicious Link?") : translator("Open Link?")
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
                translator(
                    "The link opens {host}. The text before the “@” is a username, not the site.", ["host": host]))
        }
        if link.warnings.contains(.internationalHost) {
            paragraphs.append(
                translator(
                    "The address contains look-alike characters. Its ASCII form is {host}.",
                    ["host": asciiHost(host)]))
        }
        if link.warnings.contains(.hiddenCharacters) {
            paragraphs.append(
                translator("The link text contains invisible or direction-changing characters."))
        }
        return paragraphs.joined(separator: "\n\n")
    }
}
