// libtiff, opened only for a TIFF: what it brings along would cost every other picture's start.
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

struct shim_tiff_library {
    __typeof__(&TIFFClientOpen) open;
    __typeof__(&TIFFClose) close;
    __typeof__(&TIFFGetField) field;
    __typeof__(&TIFFReadRGBAImageOriented) read;
    __typeof__(&TIFFSetErrorHandler) tell_errors;
    __typeof__(&TIFFSetWarningHandler) tell_warnings;
};

// Returns 0, or -1 where it is not installed.
static inline int shim_tiff_load(struct shim_tiff_library *library) {
    void *handle = dlopen("libtiff.so.6", RTLD_NOW);
    if (!handle) return -1;
#define SHIM_FIND(member, name) \
    if (!(library->member = (__typeof__(library->member)) dlsym(handle, #name))) return -1
    SHIM_FIND(open, TIFFClientOpen);
    SHIM_FIND(close, TIFFClose);
    SHIM_FIND(field, TIFFGetField);
    SHIM_FIND(read, TIFFReadRGBAImageOriented);
    SHIM_FIND(tell_errors, TIFFSetErrorHandler);
    SHIM_FIND(tell_warnings, TIFFSetWarningHandler);
#undef SHIM_FIND
    library->tell_errors(NULL);
    library->tell_warnings(NULL);
    return 0;
}

struct shim_tiff {
    const uint8_t *bytes;
    uint64_t count, place;
    TIFF *file;
    uint32_t width, height;
    int orientation, has_alpha;
    const uint8_t *profile;
    uint32_t profile_count;
};

static inline tmsize_t shim_tiff_read(thandle_t handle, void *into, tmsize_t count) {
    struct shim_tiff *picture = (struct shim_tiff *) handle;
    uint64_t left = picture->place < picture->count ? picture->count - picture->place : 0;
    if (count < 0) return -1;
    if ((uint64_t) count > left) count = (tmsize_t) left;
    memcpy(into, picture->bytes + picture->place, (size_t) count);
    picture->place += (uint64_t) count;
    return count;
}

static inline tmsize_t shim_tiff_write(thandle_t handle, void *from, tmsize_t count) {
    (void) handle, (void) from, (void) count;
    return -1;
}

static inline toff_t shim_tiff_seek(thandle_t handle, toff_t offset, int whence) {
    struct shim_tiff *picture = (struct shim_tiff *) handle;
    uint64_t base = whence == SEEK_CUR ? picture->place : whence == SEEK_END ? picture->count : 0;
    uint64_t place = base + (uint64_t) offset;
    picture->place = place > picture->count ? picture->count : place;
    return picture->place;
}

static inline int shim_tiff_forget(thandle_t handle) { return (void) handle, 0; }
static inline toff_t shim_tiff_size(thandle_t handle) { return ((struct shim_tiff *) handle)->count; }

static inline void shim_tiff_close(const struct shim_tiff_library *library, struct shim_tiff *picture) {
    if (picture && picture->file) library->close(picture->file);
    free(picture);
}

// Reads the first picture's description. Returns NULL if it is broken. The bytes must outlive what is returned.
static inline struct shim_tiff *shim_tiff_open(const struct shim_tiff_library *library, const uint8_t *bytes, size_t count) {
    struct shim_tiff *picture = (struct shim_tiff *) calloc(1, sizeof *picture);
    if (!picture) return NULL;
    picture->bytes = bytes;
    picture->count = count;
    // "m": nothing is mapped.
    picture->file = library->open(
        "picture", "rm", picture, shim_tiff_read, shim_tiff_write, shim_tiff_seek, shim_tiff_forget, shim_tiff_size, NULL,
        NULL);
    if (!picture->file || !library->field(picture->file, TIFFTAG_IMAGEWIDTH, &picture->width) ||
        !library->field(picture->file, TIFFTAG_IMAGELENGTH, &picture->height)) {
        shim_tiff_close(library, picture);
        return NULL;
    }
    uint16_t orientation = 0, extras = 0, *kinds = NULL;
    picture->orientation = library->field(picture->file, TIFFTAG_ORIENTATION, &orientation) && orientation >= 1 &&
                                   orientation <= 8
                               ? orientation
                               : 1;
    picture->has_alpha = library->field(picture->file, TIFFTAG_EXTRASAMPLES, &extras, &kinds) && extras > 0;
    void *profile = NULL;
    uint32_t profile_count = 0;
    if (library->field(picture->file, TIFFTAG_ICCPROFILE, &profile_count, &profile)) {
        picture->profile = (const uint8_t *) profile;
        picture->profile_count = profile_count;
    }
    return picture;
}

// Reads it as it is stored, a number of red, green, blue and alpha each, multiplied by alpha, red in the lowest byte.
// Returns 0, or -1 if it is broken.
static inline int shim_tiff_pixels(const struct shim_tiff_library *library, struct shim_tiff *picture, uint32_t *pixels) {
    return library->read(
               picture->file, picture->width, picture->height, pixels, picture->orientation, /* stop on an error */ 1)
               ? 0
               : -1;
}
