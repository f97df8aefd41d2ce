import CGtk
import CSecret
public import ChatCore
import GtkKit

/// The desktop keyring: the Secret Service, or in a Flatpak the file encrypted with the Secret portal's key.
///
/// All calls are asynchronous D-Bus calls; one that prompts the user to unlock the keyring waits for the user.
@MainActor public final class Keyring: CredentialStore {
    /// Made with the first call, as it loads libsecret; `nil` where that is missing.
    private var madeSchema: UnsafeMutableRawPointer?
    private static let schemaName = "io.github.parlance_chat.Parlance"
    private static let attribute = "account"

    public init() {}

    isolated deinit { if let madeSchema { secret_schema_unref(madeSchema) } }

    /// - Throws: ``CredentialStoreError/unavailable``.
    private func schema() async throws -> UnsafeMutableRawPointer {
        if madeSchema == nil { await Self.loadLibrary() }
        // Another call may have made it meanwhile.
        if let madeSchema { return madeSchema }
        let types = Self.table()
        g_hash_table_insert(types, g_strdup(Self.attribute), nil)
        madeSchema = secret_schema_newv(Self.schemaName, 0, UnsafeMutableRawPointer(types))
        g_hash_table_unref(types)
        guard let madeSchema else { throw CredentialStoreError.unavailable(reason: "libsecret cannot be loaded") }
        return madeSchema
    }

    /// Reads the library from the disk, with those that it needs, so that the main thread finds it loaded.
    @concurrent
    private nonisolated static func loadLibrary() async { _ = shim_secret() }

    @MainActor public func credential(of account: String) async throws -> AccountCredential? {
        let found: AccountCredential? = try await call(about: account) { call in
            secret_password_lookupv(call.schema, call.attributes, call.cancellable, call.callback, call.data)
        } finish: { result, error in
            guard let text = secret_password_lookup_finish(result, error) else { return nil }
            defer { secret_password_free(text) }
            return AccountCredential(String(cString: text))
        }
        if found == nil, try await isLocked(account) { throw CredentialStoreError.locked }
        return found
    }

    @MainActor public func store(_ credential: AccountCredential, of account: String) async throws {
        let label = translated("Parlance: {account}", ["account": account])
        let isStored = try await call(about: account) { call in
            secret_password_storev(
                call.schema, call.attributes, nil, label, credential.value, call.cancellable, call.callback, call.data)
        } finish: {
            secret_password_store_finish($0, $1) != 0
        }
        // libsecret reports no error if the user dismisses the prompt.
        if !isStored { throw CredentialStoreError.locked }
    }

    @MainActor public func removeCredential(of account: String) async throws {
        _ = try await call(about: account) { call in
            secret_password_clearv(call.schema, call.attributes, call.cancellable, call.callback, call.data)
        } finish: {
            secret_password_clear_finish($0, $1)
        }
    }

    /// libsecret reports a dismissed prompt as no result instead of an error; this finds the item, but unlocks nothing.
    /// A locked default collection that lists no items may have it.
    @MainActor public func isLocked(_ account: String) async throws -> Bool {
        let locks: [Bool] = try await call(about: account) { call in
            secret_password_searchv(call.schema, call.attributes, 0, call.cancellable, call.callback, call.data)
        } finish: { result, error in
            guard let list = secret_password_search_finish(result, error) else { return [] }
            let items = list.assumingMemoryBound(to: GList.self)
            defer { g_list_free_full(items) { g_object_unref($0) } }
            return sequence(first: items, next: { $0.pointee.next }).map { item in
                // In a Flatpak, items come from the file backend, which cannot be locked.
                guard let data = item.pointee.data, shim_is_a(data, GType(secret_item_get_type())) != 0 else {
                    return false
                }
                return secret_item_get_locked(data) != 0
            }
        }
        if !locks.isEmpty { return locks.contains(true) }
        return try await SecretCollections.mayHideItems()
    }

    // MARK: Calling libsecret

    private struct Call {
        var schema: UnsafeMutableRawPointer?
        var attributes: UnsafeMutableRawPointer
        var cancellable: UnsafeMutableRawPointer
        var callback: UnsafeMutableRawPointer
        var data: gpointer
    }

    private typealias Finish<T> =
        @MainActor (
            _ result: UnsafeMutableRawPointer, _ error: UnsafeMutablePointer<UnsafeMutableRawPointer?>
        ) -> T

    @MainActor private func call<T: Sendable>(
        about account: String, _ start: @escaping @MainActor (Call) -> Void, finish: @escaping Finish<T>
    ) async throws -> T {
        do {
            return try await attempt(about: account, start, finish)
        } catch CredentialStoreError.unavailable {
            // The connection is stale if the service has restarted since the last call.
            secret_service_disconnect()
            return try await attempt(about: account, start, finish)
        }
    }

    @MainActor private func attempt<T: Sendable>(
        about account: String, _ start: @escaping @MainActor (Call) -> Void, _ finish: @escaping Finish<T>
    ) async throws -> T {
        let schema = try await schema()
        let cancellable = Object(owning: UnsafeMutableRawPointer(g_cancellable_new()))
        let pointer = cancellable.withRawPointer { $0 }
        nonisolated(unsafe) let stop = pointer.assumingMemoryBound(to: GCancellable.self)
        // Keeps the cancellable alive until the call completes, even when canceled: the pointers leave their closure.
        defer { withExtendedLifetime(cancellable) {} }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let attributes = Self.attributes(of: account)
                AsyncCall.start { callback, data in
                    start(
                        Call(
                            schema: schema, attributes: UnsafeMutableRawPointer(attributes),
                            cancellable: pointer,
                            callback: unsafeBitCast(callback, to: UnsafeMutableRawPointer.self), data: data))
                } _: { _, result in
                    guard let result else { return continuation.resume(throwing: CancellationError()) }
                    var error: UnsafeMutableRawPointer?
                    let value = finish(UnsafeMutableRawPointer(result), &error)
                    if let error {
                        continuation.resume(throwing: Self.problem(error))
                    } else {
                        continuation.resume(returning: value)
                    }
                }
                g_hash_table_unref(attributes)
            }
        } onCancel: {
            g_cancellable_cancel(stop)
        }
    }

    /// Converts and frees the GError.
    private static func problem(_ pointer: UnsafeMutableRawPointer) -> any Error {
        let error = pointer.assumingMemoryBound(to: GError.self)
        defer { g_error_free(error) }
        if g_error_matches(error, g_io_error_quark(), Int32(G_IO_ERROR_CANCELLED.rawValue)) != 0 {
            return CancellationError()
        }
        if g_error_matches(error, secret_error_get_quark(), Int32(parlance_secret_error_is_locked)) != 0 {
            return CredentialStoreError.locked
        }
        // A D-Bus error message, free of user data.
        return CredentialStoreError.unavailable(reason: String(cString: error.pointee.message))
    }

    private static func table() -> OpaquePointer { g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free) }

    private static func attributes(of account: String) -> OpaquePointer {
        let table = table()
        g_hash_table_insert(table, g_strdup(attribute), g_strdup(account))
        return table
    }
}
