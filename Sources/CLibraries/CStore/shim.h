// C functions that Swift has no other way to, under names of our own.
#pragma once
#include <stddef.h>

// glibc's renameat2(2), which Swift's Glibc leaves out.
int parlance_renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) __asm__("renameat2");

// GLib's checksums (glib/gchecksum.h): no second module is to hold GLib's types.

/// G_CHECKSUM_SHA256
enum { parlance_checksum_sha256 = 2 };

void *parlance_checksum_new(int type) __asm__("g_checksum_new");
void parlance_checksum_update(void *checksum, const unsigned char *data, ptrdiff_t length) __asm__("g_checksum_update");
const char *parlance_checksum_get_string(void *checksum) __asm__("g_checksum_get_string");
void parlance_checksum_free(void *checksum) __asm__("g_checksum_free");
