// libsecret's asynchronous calls for passwords, as much as is used of them.
//
// Declared here and not included: the library's header brings GLib in a second time, and Swift would then see each of
// its types twice. The functions are of libsecret 0.20; tables are GHashTables of strings, lists are GLists, callbacks
// are GAsyncReadyCallbacks, errors GErrors.
#pragma once

void *secret_schema_newv(const char *name, int flags, void *attribute_types);
void secret_schema_unref(void *schema);

void secret_password_storev(void *schema, void *attributes, const char *collection, const char *label,
                            const char *password, void *cancellable, void *callback, void *data);
int secret_password_store_finish(void *result, void **error);
void secret_password_lookupv(void *schema, void *attributes, void *cancellable, void *callback, void *data);
char *secret_password_lookup_finish(void *result, void **error);
void secret_password_clearv(void *schema, void *attributes, void *cancellable, void *callback, void *data);
int secret_password_clear_finish(void *result, void **error);
void secret_password_searchv(void *schema, void *attributes, int flags, void *cancellable, void *callback, void *data);
void *secret_password_search_finish(void *result, void **error);
void secret_password_free(char *password);
void secret_service_disconnect(void);

unsigned int secret_error_get_quark(void);
enum { parlance_secret_error_is_locked = 2 };

unsigned long secret_item_get_type(void);
int secret_item_get_locked(void *item);
