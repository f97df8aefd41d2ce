import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct EncryptionSetUpTests {
    private let service = FakeEncryptionService()
    private let key = FakeEncryptionService.recoveryKey

    private func coordinator(_ status: EncryptionStatus) async -> EncryptionCoordinator {
        service.set(status)
        let encryption = EncryptionCoordinator(service) { $0.rawValue }
        await eventually { encryption.status == status }
        return encryption
    }

    private func setUp(_ status: EncryptionStatus) async throws -> EncryptionSetUpViewModel {
        try #require(await coordinator(status).setUp())
    }

    private static let unconfirmed = EncryptionStatus(
        condition: .on, identity: .unconfirmed, recovery: .incomplete, otherConfirmedDevices: 1)

    @Test(
        "The missing setup step follows from the status.",
        arguments: [
            (EncryptionStatus(condition: .on, identity: .none), EncryptionNeed.setUp),
            (EncryptionStatus(condition: .on, identity: .unconfirmed), .confirmDevice),
            (EncryptionStatus(condition: .on, identity: .replaced), .confirmDevice),
            (EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved), .saveRecoveryKey),
            (EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready), nil),
            (EncryptionStatus(condition: .on, identity: .unknown), nil),
            (EncryptionStatus(condition: .off(.notBuilt), identity: .none), nil),
            (EncryptionStatus(condition: .none, identity: .none), nil),
        ])
    func need(status: EncryptionStatus, need: EncryptionNeed?) async {
        let encryption = await coordinator(status)
        #expect(encryption.need == need && (encryption.setUp() == nil) == (need == nil))
    }

    @Test("An identity is created, and its recovery key must be saved.")
    func identityIsMade() async throws {
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        #expect(viewModel.state.step == .introduction && viewModel.state.canPutOff)
        viewModel.send(.begin)
        viewModel.send(.begin)
        await eventually { viewModel.state.step == .showingKey(key) && !viewModel.state.isBusy }
        #expect(service.calls == ["createIdentity"])
        viewModel.send(.finish)
        #expect(!viewModel.state.canGoOn(secret: "", password: "") && !viewModel.state.isBusy)
        viewModel.send(.keySaved(true))
        viewModel.send(.finish)
        await eventually { viewModel.state.step == .over }
        #expect(service.calls == ["createIdentity", "confirmRecoveryKey"])
    }

    @Test("The password is requested only if the server requires it, and again if it is wrong.")
    func password() async throws {
        service.fail("createIdentity", with: .passwordRequired, .wrongPassword)
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        await eventually { viewModel.state.step == .password && !viewModel.state.isBusy }
        #expect(viewModel.state.error == nil && !viewModel.state.canGoOn(secret: "", password: ""))
        viewModel.send(.password(AccountCredential("wrong")))
        await eventually { viewModel.state.error == .service(.wrongPassword) && !viewModel.state.isBusy }
        #expect(viewModel.state.step == .password)
        viewModel.send(.password(AccountCredential("right")))
        await eventually { viewModel.state.step == .showingKey(key) }
        #expect(service.calls == ["createIdentity", "createIdentity wrong", "createIdentity right"])
    }

    @Test(
        "A failure is shown on the page, and can be retried.",
        arguments: [
            EncryptionError.unreachable, .confirmationUnsupported, .rejected(reason: "x"), .storage(reason: "x"),
        ])
    func failure(error: EncryptionError) async throws {
        service.fail("createIdentity", with: error)
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        await eventually { viewModel.state.error == .service(error) && !viewModel.state.isBusy }
        #expect(viewModel.state.step == .introduction)
        viewModel.send(.begin)
        await eventually { viewModel.state.showsKey }
        #expect(viewModel.state.error == nil)
    }

    @Test("The recovery key confirms this device; a wrong one is reported.")
    func recovery() async throws {
        service.fail("recover", with: .malformedRecoveryKey, .wrongRecoveryKey)
        let viewModel = try await setUp(Self.unconfirmed)
        #expect(viewModel.state.step == .choosingMethod && viewModel.state.firstMethod == "other_device")
        viewModel.send(.useRecoveryKey)
        #expect(viewModel.state.canGoBack && !viewModel.state.canGoOn(secret: " \n", password: ""))
        for error in [EncryptionError.malformedRecoveryKey, .wrongRecoveryKey] {
            viewModel.send(.recover(AccountCredential("EsT x")))
            await eventually { viewModel.state.error == .service(error) && !viewModel.state.isBusy }
        }
        viewModel.send(.recover(AccountCredential("EsT c")))
        await eventually { viewModel.state.step == .done }
        viewModel.send(.finish)
        #expect(viewModel.state.step == .over)
        #expect(service.calls == ["recover EsT x", "recover EsT x", "recover EsT c"])
    }

    @Test(
        "After the recovery key, the page promises to restore earlier messages only if the backup can be read.",
        arguments: [
            (EncryptionStatus.Backup.on(remaining: 0), false, "Earlier messages become readable as their keys "),
            (.failing(remaining: 1, reason: "x"), false, "Earlier messages become readable as their keys "),
            (.on(remaining: 0), true, "This device cannot restore keys from the backup."),
            (.failing(remaining: 1, reason: "x"), true, "This device cannot restore keys from the backup."),
            (.untrusted, false, "The backup was made by an unconfirmed device and is not used."),
            (.off, false, "If you lose this device, its messages can no longer be read."),
            (.unknown, false, "Earlier messages become readable if their keys can be "),
        ])
    func restoring(backup: EncryptionStatus.Backup, lacksBackupKey: Bool, promise: String) async throws {
        let text = EncryptionText(.untranslated)
        let encryption = await coordinator(Self.unconfirmed)
        let viewModel = try #require(encryption.setUp())
        viewModel.send(.useRecoveryKey)
        viewModel.send(.recover(AccountCredential("EsT c")))
        await eventually { viewModel.state.step == .done }
        // The status of the device before says nothing of this.
        #expect(text.explanation(viewModel.state).hasPrefix("Earlier messages become readable if "))
        service.set(
            EncryptionStatus(
                condition: .on, identity: .confirmed, recovery: .ready, backup: backup, lacksBackupKey: lacksBackupKey))
        await eventually { viewModel.state.status?.identity == .confirmed }
        #expect(text.explanation(viewModel.state).hasPrefix(promise))
        withExtendedLifetime(encryption) {}
    }

    @Test("Of several windows, the second shows the same: another recovery key would replace the one that is shown.")
    func oneDialog() async throws {
        let encryption = await coordinator(EncryptionStatus(condition: .on, identity: .none))
        let first = try #require(encryption.setUp())
        #expect(encryption.setUp() === first && encryption.newRecoveryKey() === first)
        first.send(.close)
        #expect(encryption.newRecoveryKey() !== first)
    }

    @Test("Another device receives a request, and its response closes the dialog.")
    func otherDevice() async throws {
        let viewModel = try await setUp(Self.unconfirmed)
        viewModel.send(.useOtherDevice)
        await eventually { !viewModel.state.isBusy }
        #expect(service.calls == ["verifyDevice"] && viewModel.state.step == .choosingMethod)
        let encryption = EncryptionCoordinator(service) { $0.rawValue }
        let followed = EncryptionSetUpViewModel(.confirmDevice, of: encryption)
        await eventually { followed.state.hasOtherDevices }
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        await eventually { followed.state.step == .over }
    }

    @Test("A recovery key that has confirmed this device, although the connection was lost, is not asked for again.")
    func lateRecovery() async throws {
        service.fail("recover", with: .unreachable)
        let encryption = await coordinator(Self.unconfirmed)
        let viewModel = try #require(encryption.setUp())
        viewModel.send(.useRecoveryKey)
        viewModel.send(.recover(AccountCredential("EsT c")))
        await eventually { viewModel.state.error == .service(.unreachable) && !viewModel.state.isBusy }
        #expect(viewModel.state.step == .recovering)
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        await eventually { viewModel.state.step == .done && viewModel.state.error == nil }
        withExtendedLifetime(encryption) {}
    }

    @Test("A confirmed device that lacks keys asks for the recovery key, and says so where another key was to be made.")
    func missingKeys() async throws {
        let lacking = EncryptionStatus(
            condition: .on, identity: .confirmed, recovery: .ready, backup: .on(remaining: 0), lacksBackupKey: true)
        let encryption = await coordinator(lacking)
        #expect(encryption.need == nil)
        let text = EncryptionText(.untranslated)
        #expect(text.summary(lacking) == "This device is confirmed, but lacks some keys.")
        #expect(text.backup(lacking) == "This device cannot restore keys from the backup")
        service.fail("replaceRecoveryKey", with: .missingSecrets)
        let making = encryption.newRecoveryKey()
        making.send(.begin)
        await eventually { making.state.error == .service(.missingSecrets) }
        making.send(.close)
        let viewModel = try #require(encryption.setUp())
        #expect(viewModel.state.step == .recovering && !viewModel.state.canGoBack)
        #expect(text.windowTitle(viewModel.state) == "Recovery Key")
        viewModel.send(.recover(AccountCredential("EsT c")))
        await eventually { viewModel.state.step == .done }
        #expect(text.title(viewModel.state) == "Recovery Key Accepted")
        viewModel.send(.finish)
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        await eventually { encryption.setUp() == nil }
    }

    @Test("A device that is confirmed while a request is under way leaves the page after it, unless it shows a key.")
    func confirmedDuringRequest() async throws {
        service.fail("recover", with: .unreachable)
        let encryption = await coordinator(Self.unconfirmed)
        let recovering = try #require(encryption.setUp())
        let resetting = EncryptionSetUpViewModel(.confirmDevice, of: encryption)
        recovering.send(.useRecoveryKey)
        resetting.send(.reset)
        let confirmed = EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready)
        service.set(confirmed)
        recovering.send(.recover(AccountCredential("EsT c")))
        resetting.send(.reset)
        #expect(recovering.state.isBusy && resetting.state.isBusy)
        await eventually { encryption.status == confirmed && !recovering.state.isBusy && !resetting.state.isBusy }
        await eventually { recovering.state.step == .done }
        await waitUntilIdle()
        #expect(resetting.state.step == .showingKey(key))
    }

    @Test("A reset that was to confirm this device is over once another device has confirmed it.", arguments: 0...2)
    func needlessReset(wrongPasswords: Int) async throws {
        let encryption = await coordinator(Self.unconfirmed)
        let viewModel = try #require(encryption.setUp())
        viewModel.send(.reset)
        if wrongPasswords > 0 {
            service.fail("replaceIdentity", with: .passwordRequired, .wrongPassword)
            viewModel.send(.reset)
            await eventually { viewModel.state.step == .password && !viewModel.state.isBusy }
        }
        if wrongPasswords > 1 {
            viewModel.send(.password(AccountCredential("wrong")))
            await eventually { viewModel.state.error == .service(.wrongPassword) && !viewModel.state.isBusy }
        }
        service.set(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready))
        await eventually { viewModel.state.step == .over }
        withExtendedLifetime(encryption) {}
    }

    @Test("A reset that may have confirmed this device by another identity goes on, until its recovery key is shown.")
    func unclearReset() async throws {
        service.fail("replaceIdentity", with: .unreachable)
        let encryption = await coordinator(Self.unconfirmed)
        let viewModel = try #require(encryption.setUp())
        viewModel.send(.reset)
        viewModel.send(.reset)
        await eventually { viewModel.state.error == .service(.unreachable) && !viewModel.state.isBusy }
        let status = EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved)
        service.set(status)
        await eventually { encryption.status == status }
        await waitUntilIdle()
        #expect(viewModel.state.step == .resetting && viewModel.state.error == .service(.unreachable))
        viewModel.send(.reset)
        await eventually { viewModel.state.showsKey }
    }

    @Test("All that a reset loses is announced with its page.")
    func losses() async throws {
        let text = EncryptionText(.untranslated)
        let viewModel = try await setUp(Self.unconfirmed)
        viewModel.send(.reset)
        let announced = text.announcement(viewModel.state).split(separator: "\n").dropFirst(2).map(String.init)
        #expect(
            announced == [
                "Messages whose keys are only in the current backup can no longer be read.",
                "Your current recovery key or passphrase stops working.",
                "Your other devices have to be confirmed again.",
                "People you verified are no longer verified, and have to be verified again.",
                "People who verified you are told that your identity changed, and have to verify you again.",
            ])
    }

    @Test("Only methods that can work are offered.")
    func methods() async throws {
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .replaced, recovery: .none))
        #expect(!viewModel.state.hasOtherDevices && !viewModel.state.hasRecovery && viewModel.state.isReplaced)
        #expect(viewModel.state.firstMethod == "reset_row")
    }

    @Test("A reset first shows what is lost, and creates another identity.")
    func reset() async throws {
        service.fail("replaceIdentity", with: .passwordRequired)
        let viewModel = try await setUp(Self.unconfirmed)
        viewModel.send(.reset)
        #expect(viewModel.state.step == .resetting && service.calls.isEmpty)
        viewModel.send(.back)
        #expect(viewModel.state.step == .choosingMethod)
        viewModel.send(.reset)
        viewModel.send(.reset)
        await eventually { viewModel.state.step == .password && !viewModel.state.isBusy }
        viewModel.send(.back)
        #expect(viewModel.state.step == .resetting)
        viewModel.send(.reset)
        await eventually { viewModel.state.showsKey }
        #expect(service.calls == ["replaceIdentity", "replaceIdentity"])
    }

    @Test("The window's title says that the identity is reset, up to the new recovery key, and not after going back.")
    func resetTitle() async throws {
        let text = EncryptionText(.untranslated)
        service.fail("replaceIdentity", with: .passwordRequired)
        let viewModel = try await setUp(Self.unconfirmed)
        viewModel.send(.reset)
        #expect(text.windowTitle(viewModel.state) == "Reset Encryption")
        viewModel.send(.back)
        #expect(text.windowTitle(viewModel.state) == "Confirm This Device")
        viewModel.send(.reset)
        viewModel.send(.reset)
        await eventually { viewModel.state.step == .password && !viewModel.state.isBusy }
        #expect(text.windowTitle(viewModel.state) == "Reset Encryption")
        viewModel.send(.password(AccountCredential("tea and milk")))
        await eventually { viewModel.state.showsKey }
        #expect(text.windowTitle(viewModel.state) == "Reset Encryption")
    }

    @Test("A confirmed device can reset the identity, too.")
    func resetOfConfirmedDevice() async {
        let status = EncryptionStatus(condition: .on, identity: .confirmed, recovery: .ready)
        let viewModel = await coordinator(status).reset()
        #expect(viewModel.state.step == .resetting && !viewModel.state.canGoBack)
        viewModel.send(.reset)
        await eventually { viewModel.state.showsKey }
        #expect(service.calls == ["replaceIdentity"])
    }

    @Test(
        "If another device has set up encryption meanwhile, the dialog offers to confirm this one, and resets nothing.")
    func setUpElsewhere() async throws {
        service.fail("createIdentity", with: .identityExists)
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        await eventually { viewModel.state.error == .service(.identityExists) && !viewModel.state.isBusy }
        #expect(viewModel.state.step == .choosingMethod && viewModel.state.need == .confirmDevice)
        viewModel.send(.begin)
        viewModel.send(.useRecoveryKey)
        viewModel.send(.back)
        #expect(viewModel.state.step == .choosingMethod && service.calls == ["createIdentity"])
    }

    @Test("An unsaved recovery key is replaced.")
    func replacedKey() async throws {
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved))
        viewModel.send(.begin)
        await eventually { viewModel.state.showsKey }
        #expect(service.calls == ["replaceRecoveryKey"])
    }

    @Test("The recovery key is saved to a file that only the user can read, also if it replaces one.")
    func file() async throws {
        let folder = TemporaryFolder()
        let file = folder.url.appendingPathComponent("key.txt")
        try Data("what was there before, and longer than the key by far".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        await eventually { viewModel.state.showsKey && !viewModel.state.isBusy }
        viewModel.send(.saveKey(file))
        await eventually { !viewModel.state.isBusy }
        #expect(try String(contentsOf: file, encoding: .utf8) == key.text + "\n" && viewModel.state.error == nil)
        let text = EncryptionText(.untranslated)
        #expect(viewModel.state.isKeyFileSaved && text.saveButton(viewModel.state) == "_Saved")
        #expect(text.announcement(viewModel.state) == "The recovery key was saved to the file.")
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        viewModel.send(.saveKey(folder.url.appendingPathComponent("none/key.txt")))
        await eventually { viewModel.state.error == .file && !viewModel.state.isBusy }
        #expect(viewModel.state.showsKey && text.saveButton(viewModel.state) == "_Save to File…")
    }

    @Test("What the user says and does about the recovery key while it is written to a file is not lost.")
    func savingAndTicking() async throws {
        let folder = TemporaryFolder()
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        await eventually { viewModel.state.showsKey && !viewModel.state.isBusy }
        viewModel.send(.saveKey(folder.url.appendingPathComponent("key.txt")))
        viewModel.send(.keySaved(true))
        viewModel.send(.keyCopied)
        #expect(viewModel.state.isBusy && viewModel.state.isKeySaved && viewModel.state.isKeyCopied)
        viewModel.send(.finish)
        await eventually { !viewModel.state.isBusy }
        #expect(viewModel.state.isKeyFileSaved && viewModel.state.isKeySaved && viewModel.state.isKeyCopied)
        #expect(viewModel.state.step == .showingKey(key), "the file is written first")
        withExtendedLifetime(folder) {}
    }

    @Test("Closing during an operation does not affect it, and shows no key.")
    func closing() async throws {
        let viewModel = try await setUp(EncryptionStatus(condition: .on, identity: .none))
        viewModel.send(.begin)
        viewModel.send(.close)
        await waitUntilIdle()
        #expect(viewModel.state.step == .over && service.calls == ["createIdentity"])
    }

    @Test("Descriptions of states and actions contain no key or password.")
    func nothingIsPrinted() {
        let step = EncryptionSetUpViewModel.Step.showingKey(key)
        let action = EncryptionSetUpViewModel.Action.password(AccountCredential("hunter2"))
        #expect(!"\(step) \(String(reflecting: step))".contains("EsTc"))
        #expect(!"\(action) \(String(reflecting: action))".contains("hunter2"))
    }

    @Test("Every page has its texts.")
    func texts() async throws {
        let text = EncryptionText(.untranslated)
        for status in [
            EncryptionStatus(condition: .on, identity: .none), Self.unconfirmed,
            EncryptionStatus(condition: .on, identity: .replaced, hasPassphrase: true),
            EncryptionStatus(condition: .on, identity: .confirmed, recovery: .unsaved),
        ] {
            var state = try await setUp(status).state
            for step: EncryptionSetUpViewModel.Step in [
                .introduction, .choosingMethod, .recovering, .resetting, .password, .showingKey(key), .done,
            ] {
                state.step = step
                #expect(!text.title(state).isEmpty && !text.explanation(state).isEmpty)
                #expect(!text.windowTitle(state).isEmpty && !state.iconName.isEmpty)
            }
        }
    }
}
