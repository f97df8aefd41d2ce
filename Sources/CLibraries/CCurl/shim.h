// Swift bindings for libcurl, whose variadic functions Swift cannot call. Loaded with the first account, as it needs
// two dozen libraries of its own.
#pragma once

#include "../opened_library.h"
#include <curl/curl.h>

static inline void *shim_curl(void) { return shim_opened(dlopen("libcurl.so.4", RTLD_NOW)); }

#define SHIM_CURL(result, name, parameters, arguments) \
    SHIM_CALL(shim_curl, result, parlance_##name, name, parameters, arguments)

// Initializes libcurl. If it returns an error, call nothing else here.
SHIM_CALL(shim_curl, CURLcode, shim_curl_global_init, curl_global_init, (long flags), (flags))
static inline int parlance_curl_start(void) {
    return shim_curl() && shim_curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

SHIM_CURL(CURL *, curl_easy_init, (void), ())
SHIM_CURL(void, curl_easy_cleanup, (CURL *handle), (handle))
SHIM_CURL(const char *, curl_easy_strerror, (CURLcode code), (code))
SHIM_CURL(struct curl_slist *, curl_slist_append, (struct curl_slist *list, const char *line), (list, line))
SHIM_CURL(void, curl_slist_free_all, (struct curl_slist *list), (list))
SHIM_CURL(CURLM *, curl_multi_init, (void), ())
SHIM_CURL(CURLMcode, curl_multi_cleanup, (CURLM *handle), (handle))
SHIM_CURL(CURLMcode, curl_multi_add_handle, (CURLM *handle, CURL *transfer), (handle, transfer))
SHIM_CURL(CURLMcode, curl_multi_remove_handle, (CURLM *handle, CURL *transfer), (handle, transfer))
SHIM_CURL(CURLMcode, curl_multi_perform, (CURLM *handle, int *running), (handle, running))
SHIM_CURL(CURLMcode, curl_multi_poll,
          (CURLM *handle, struct curl_waitfd *extra, unsigned count, int milliseconds, int *found),
          (handle, extra, count, milliseconds, found))
SHIM_CURL(CURLMcode, curl_multi_wakeup, (CURLM *handle), (handle))
SHIM_CURL(CURLMsg *, curl_multi_info_read, (CURLM *handle, int *remaining), (handle, remaining))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_set_number, curl_easy_setopt,
          (CURL *handle, CURLoption option, long value), (handle, option, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_set_size, curl_easy_setopt,
          (CURL *handle, CURLoption option, curl_off_t value), (handle, option, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_set_text, curl_easy_setopt,
          (CURL *handle, CURLoption option, const char *value), (handle, option, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_set_pointer, curl_easy_setopt,
          (CURL *handle, CURLoption option, void *value), (handle, option, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_set_list, curl_easy_setopt,
          (CURL *handle, CURLoption option, struct curl_slist *value), (handle, option, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_head, curl_easy_setopt,
          (CURL *handle, curl_write_callback function), (handle, CURLOPT_HEADERFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_body, curl_easy_setopt,
          (CURL *handle, curl_write_callback function), (handle, CURLOPT_WRITEFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_read, curl_easy_setopt,
          (CURL *handle, curl_read_callback function), (handle, CURLOPT_READFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_seek, curl_easy_setopt,
          (CURL *handle, curl_seek_callback function), (handle, CURLOPT_SEEKFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_progress, curl_easy_setopt,
          (CURL *handle, curl_xferinfo_callback function), (handle, CURLOPT_XFERINFOFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_on_socket, curl_easy_setopt,
          (CURL *handle, curl_sockopt_callback function), (handle, CURLOPT_SOCKOPTFUNCTION, function))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_get_number, curl_easy_getinfo,
          (CURL *handle, CURLINFO info, long *value), (handle, info, value))
SHIM_CALL(shim_curl, CURLcode, parlance_curl_get_size, curl_easy_getinfo,
          (CURL *handle, CURLINFO info, curl_off_t *value), (handle, info, value))
SHIM_CALL(shim_curl, CURLMcode, parlance_curl_multi_set_number, curl_multi_setopt,
          (CURLM *handle, CURLMoption option, long value), (handle, option, value))

SHIM_CURL(curl_version_info_data *, curl_version_info, (CURLversion version), (version))

// What speaks TLS for it, such as "OpenSSL/3.0.19".
static inline const char *parlance_curl_tls(void) {
    const curl_version_info_data *version = parlance_curl_version_info(CURLVERSION_NOW);
    return version ? version->ssl_version : NULL;
}

#undef SHIM_CURL
