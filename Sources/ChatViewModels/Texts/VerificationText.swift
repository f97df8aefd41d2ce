public import ChatCore

/// The texts of a verification.
public struct VerificationText {
    private let translator: Translator

    public init(_ translator: Translator) {
        self.translator = translator
    }

    public func windowTitle(_ state: VerificationViewModel.State) -> String {
        state.verification.isOwn
            ? translator("Confirm Device") : translator("Verify {name}", ["name": state.name])
    }

    /// The title of the page.
    public func title(_ state: VerificationViewModel.State) -> String {
        let verification = state.verification
        if state.waitsForServer { return translator("Waiting for the Server") }
        switch verification.phase {
        case .requested:
            return verification.isOwn
                ? translator("Confirm Another Device?")
                : translator("{name} Wants to Verify You", ["name": state.name])
        case .waiting: return translator("Waiting for an Answer")
        case .preparing: return translator("Connecting…")
        case .comparing:
            return state.page == .numbers ? translator("Compare the Numbers") : translator("Compare the Emoji")
        case .confirming: return translator("Waiting for the Other Device")
        case .done: return verification.isOwn ? translator("Device Confirmed") : translator("Verified")
        case .canceled(.mismatch): return translator("No Match")
        case .canceled(.answeredElsewhere): return translator("Answered on Another Device")
        case .canceled(.signatureRejected) where !verification.isOwn:
            return translator("Verified Only on This Device")
        case .canceled: return translator("Verification Canceled")
        }
    }

    /// The text below the title.
    public func explanation(_ state: VerificationViewModel.State) -> String {
        let verification = state.verification
        if state.waitsForServer {
            return translator("The server cannot be reached. The verification goes on as soon as it can.")
        }
        switch verification.phase {
        case .requested: return request(state)
        case .waiting:
            return verification.isOwn
                ? translator("Open a Matrix app on your other device, and accept the request there.")
                : translator("{name} has to accept the request.", ["name": state.name])
        case .preparing: return translator("The devices are exchanging keys.")
        case .comparing: return comparison(state)
        case .confirming:
            return verification.isOwn
                ? translator("Confirm on the other device that both show the same.")
                : translator("{name} has to confirm that both devices show the same.", ["name": state.name])
        case .done:
            return verification.isOwn
                ? translator("Both devices can now read your encrypted messages.")
                : translator("Parlance will warn you if the identity of {name} changes.", ["name": state.name])
        case .canceled(let cancellation): return text(for: cancellation, state)
        }
    }

    /// The ID of the other side, below the title; empty while unknown. Anyone can choose the name of someone else, and
    /// devices that were signed in by the same app have the same name.
    public func identifier(_ state: VerificationViewModel.State) -> String {
        guard state.verification.isOwn else { return state.verification.user.rawValue }
        return state.verification.device.map { translator("Device ID: {id}", ["id": $0]) } ?? ""
    }

    /// What screen readers are told of the page.
    public func announcement(_ state: VerificationViewModel.State) -> String {
        [title(state), identifier(state), explanation(state)].filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private func request(_ state: VerificationViewModel.State) -> String {
        guard state.verification.isOwn else {
            return translator(
                "You will compare emoji to make sure that no one is listening in. Do this in person or in a call.")
        }
        let device = device(state.verification)
        return device.isEmpty
            ? translator("Only accept if you have just signed in on another device.")
            : translator("Only accept if you have just signed in on “{device}”.", ["device": device])
    }

    private func comparison(_ state: VerificationViewModel.State) -> String {
        guard state.verification.isOwn else {
            return translator(
                "Make sure that {name} sees the same in the same order. Ask in person or in a call.",
                ["name": state.name])
        }
        let device = device(state.verification)
        return device.isEmpty
            ? translator("Make sure that your other device shows the same in the same order.")
            : translator("Make sure that “{device}” shows the same in the same order.", ["device": device])
    }

    /// The name of the other device; empty if unknown.
    private func device(_ verification: Verification) -> String {
        verification.deviceName.isEmpty ? verification.device ?? "" : verification.deviceName
    }

    private func text(for cancellation: Verification.Cancellation, _ state: VerificationViewModel.State) -> String {
        switch cancellation {
        case .here: translator("You canceled it. Nothing has changed.")
        case .there:
            state.verification.isOwn
                ? translator("It was canceled on the other device. Nothing has changed.")
                : translator("{name} canceled it. Nothing has changed.", ["name": state.name])
        case .timeout: translator("There was no answer in time. Nothing has changed.")
        case .mismatch:
            translator("The two devices did not show the same. Someone may be listening in. Nothing was confirmed.")
        case .answeredElsewhere: translator("Continue on the device where you accepted the request.")
        case .unsupported: translator("The other device cannot compare emoji or numbers.")
        case .unconfirmedHere:
            state.verification.isOwn
                ? translator("Neither of the two devices is confirmed. Confirm one with your recovery key first.")
                : translator(
                    "This device is not confirmed. Confirm it first, then verify {name}.", ["name": state.name])
        case .unconfirmedThere:
            state.verification.isOwn
                ? translator("The other device is not confirmed. Confirm it with your recovery key first.")
                : translator(
                    "The device of {name} is not confirmed. {name} has to confirm it first.", ["name": state.name])
        case .keyMissing:
            translator(
                "This device lacks the key that confirms others. Confirm the other device with your recovery key.")
        case .failed: translator("The other device sent something unexpected. Nothing was confirmed.")
        case .undeliverable: translator("A message could not be sent. Nothing was confirmed.")
        case .signatureRejected:
            state.verification.isOwn
                ? translator("The server rejected the signature, so the other device is not confirmed.")
                : translator(
                    "The server rejected the signature, so your other devices do not know that you verified {name}.",
                    ["name": state.name])
        }
    }

    // MARK: Buttons

    public func closeButton(_ state: VerificationViewModel.State) -> String {
        switch state.verification.phase {
        case .requested: translator("_Not Now")
        case .waiting, .preparing, .confirming: translator("_Cancel")
        case .comparing: ""
        case .done: translator("_Done")
        case .canceled: translator("_Close")
        }
    }

    /// The label of the button that switches between emoji and numbers.
    public func otherWay(_ state: VerificationViewModel.State) -> String {
        state.showsNumbers ? translator("Compare _Emoji Instead") : translator("Compare _Numbers Instead")
    }

    // MARK: What is compared

    /// The accessible label of the emoji.
    public func accessibleText(_ emoji: [VerificationEmoji]) -> String {
        emoji.map { emoji in emoji.name(translator) }.joined(separator: ", ")
    }

    public func text(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: "   ") }

    public func accessibleText(_ numbers: [Int]) -> String { numbers.map(String.init).joined(separator: ", ") }
}
