// Swift bindings for libarchive, which reads ZIP files. Loaded when the first archive is opened.
#pragma once

#include "../opened_library.h"
#include <archive.h>
#include <archive_entry.h>

static inline void *shim_archive(void) { return shim_opened(dlopen("libarchive.so.13", RTLD_NOW)); }

#define SHIM_ARCHIVE(result, name, parameters, arguments) \
    SHIM_CALL(shim_archive, result, parlance_##name, name, parameters, arguments)

SHIM_ARCHIVE(struct archive *, archive_read_new, (void), ())
SHIM_ARCHIVE(int, archive_read_support_format_zip_seekable, (struct archive *archive), (archive))
SHIM_ARCHIVE(int, archive_read_open_filename, (struct archive *archive, const char *path, size_t block),
             (archive, path, block))
SHIM_ARCHIVE(int, archive_read_free, (struct archive *archive), (archive))
SHIM_ARCHIVE(int, archive_read_next_header, (struct archive *archive, struct archive_entry **entry), (archive, entry))
SHIM_ARCHIVE(la_ssize_t, archive_read_data, (struct archive *archive, void *data, size_t count), (archive, data, count))
SHIM_ARCHIVE(const char *, archive_error_string, (struct archive *archive), (archive))
SHIM_ARCHIVE(const char *, archive_entry_pathname_utf8, (struct archive_entry *entry), (entry))
SHIM_ARCHIVE(const char *, archive_entry_pathname, (struct archive_entry *entry), (entry))
SHIM_ARCHIVE(unsigned, archive_entry_filetype, (struct archive_entry *entry), (entry))
SHIM_ARCHIVE(la_int64_t, archive_entry_size, (struct archive_entry *entry), (entry))

#undef SHIM_ARCHIVE
