// The part of libsecret that reads and writes passwords asynchronously. Loaded with the first call.
//
// Declared here instead of included: with the library's header, Swift would import GLib a second time and treat the two
// copies' types as different. The functions are those of libsecret 0.20; tables are GHashTables of strings, lists are
// GLists, callbacks are GAsyncReadyCallbacks, errors GErrors.
#pragma once

#include "../opened_library.h"

static inline void *shim_secret(void) { return shim_opened(dlopen("libsecret-1.so.0", RTLD_NOW)); }

#define SHIM_SECRET(result, name, parameters, arguments) SHIM_CALL(shim_secret, result, name, name, parameters, arguments)

SHIM_SECRET(void *, secret_schema_newv, (const char *name, int flags, void *attribute_types),
            (name, flags, attribute_types))
SHIM_SECRET(void, secret_schema_unref, (void *schema), (schema))

SHIM_SECRET(void, secret_password_storev,
            (void *schema, void *attributes, const char *collection, const char *label, const char *password,
             void *cancellable, void *callback, void *data),
            (schema, attributes, collection, label, password, cancellable, callback, data))
SHIM_SECRET(int, secret_password_store_finish, (void *result, void **error), (result, error))
SHIM_SECRET(void, secret_password_lookupv,
            (void *schema, void *attributes, void *cancellable, void *callback, void *data),
            (schema, attributes, cancellable, callback, data))
SHIM_SECRET(char *, secret_password_lookup_finish, (void *result, void **error), (result, error))
SHIM_SECRET(void, secret_password_clearv,
            (void *schema, void *attributes, void *cancellable, void *callback, void *data),
            (schema, attributes, cancellable, callback, data))
SHIM_SECRET(int, secret_password_clear_finish, (void *result, void **error), (result, error))
SHIM_SECRET(void, secret_password_searchv,
            (void *schema, void *attributes, int flags, void *cancellable, void *callback, void *data),
            (schema, attributes, flags, cancellable, callback, data))
SHIM_SECRET(void *, secret_password_search_finish, (void *result, void **error), (result, error))
SHIM_SECRET(void, secret_password_free, (char *password), (password))
SHIM_SECRET(void, secret_service_disconnect, (void), ())

SHIM_SECRET(unsigned int, secret_error_get_quark, (void), ())
enum { parlance_secret_error_is_locked = 2 };

SHIM_SECRET(unsigned long, secret_item_get_type, (void), ())
SHIM_SECRET(int, secret_item_get_locked, (void *item), (item))

#undef SHIM_SECRET
