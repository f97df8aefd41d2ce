import ChatCore

extension SealReason {
    /// Why a message could not be read, in English and in the user interface's words. Exports are not translated.
    var sentence: String {
        switch self {
        case .noKey: "Not readable: its key has not come."
        case .beforeSignIn: "Not readable: sent before you signed in."
        case .beforeKey: "Not readable: sent before the device got the key."
        case .beforeMembership: "Not readable: sent before you were in this room."
        case .unconfirmedDevice: "Not readable: its sender shares keys only with confirmed devices."
        case .withheld: "Not readable: its sender does not share the key."
        case .repeated: "Hidden: it repeats another message."
        case .otherSender: "Hidden: it was not encrypted by its sender."
        case .unknownSender: "It was not known yet who sent this message."
        case .unconfirmedSender: "Hidden: its owner has not confirmed the device it was sent from."
        case .unknownAlgorithm: "Not readable: encrypted in an unknown way."
        case .damaged: "Not readable: damaged."
        case .keysLocked: "Not readable: the keyring was locked."
        case .keysUnavailable, .notBuilt: "Not readable: encryption was not available."
        case .notFetched: "Not readable: not loaded."
        }
    }
}
