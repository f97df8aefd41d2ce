// libpng. It leaves an error by longjmp(), which must never pass through Swift: each call of ours ends here, and tells.
#pragma once

#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct shim_png {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count;
    uint32_t width, height;
    int is_interlaced, has_alpha;
    // Within what libpng holds; NULL if there is none.
    const uint8_t *profile, *exif;
    uint32_t profile_count, exif_count;
};

static inline void shim_png_read(png_structp png, png_bytep into, size_t count) {
    struct shim_png *picture = (struct shim_png *) png_get_io_ptr(png);
    if (count > picture->count) png_error(png, "cut off");
    memcpy(into, picture->bytes, count);
    picture->bytes += count;
    picture->count -= count;
}

static inline void shim_png_failed(png_structp png, png_const_charp message) {
    (void) message;
    png_longjmp(png, 1);
}

static inline void shim_png_warned(png_structp png, png_const_charp message) {
    (void) png;
    (void) message;
}

static inline void shim_png_close(struct shim_png *picture) {
    if (picture) png_destroy_read_struct(&picture->png, &picture->info, NULL);
    free(picture);
}

// Reads all before the pixels. Returns NULL if it is broken. The bytes must outlive what is returned.
static inline struct shim_png *shim_png_open(const uint8_t *bytes, size_t count) {
    struct shim_png *picture = (struct shim_png *) calloc(1, sizeof *picture);
    if (!picture) return NULL;
    picture->bytes = bytes;
    picture->count = count;
    picture->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, shim_png_failed, shim_png_warned);
    if (picture->png) picture->info = png_create_info_struct(picture->png);
    if (!picture->info || setjmp(png_jmpbuf(picture->png))) {
        shim_png_close(picture);
        return NULL;
    }
    png_structp png = picture->png;
    // Every chunk has a checksum already: that of zlib over the pixels would be a second one.
    // Only where libpng was built with the option; the others compute it.
#ifdef PNG_IGNORE_ADLER32
    png_set_option(png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
    png_set_read_fn(png, picture, shim_png_read);
    png_set_user_limits(png, 1 << 20, 1 << 20);
    png_set_chunk_malloc_max(png, 4 << 20);
    png_set_chunk_cache_max(png, 16);
    // Parts that change no pixel are passed over unread.
    static const uint8_t unread[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0pCAL\0sCAL\0tIME\0oFFs\0pHYs\0";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, unread, sizeof unread / 5);
    png_read_info(png, picture->info);
    int depth, color, interlace;
    png_get_IHDR(png, picture->info, &picture->width, &picture->height, &depth, &color, &interlace, NULL, NULL);
    picture->is_interlaced = interlace != PNG_INTERLACE_NONE;
    picture->has_alpha = (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, picture->info, PNG_INFO_tRNS) != 0;
    png_charp name;
    int compression;
    png_bytep found = NULL;
    if (png_get_iCCP(png, picture->info, &name, &compression, &found, &picture->profile_count)) picture->profile = found;
    found = NULL;
    if (png_get_eXIf_1(png, picture->info, &picture->exif_count, &found)) picture->exif = found;
    return picture;
}

// Every kind of pixel becomes red, green, blue and alpha of eight bits. Returns how often all lines are to be read, over
// the same memory; 0 if it is broken.
static inline int shim_png_start(struct shim_png *picture) {
    png_structp png = picture->png;
    if (setjmp(png_jmpbuf(png))) return 0;
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, picture->info);
    return png_get_rowbytes(png, picture->info) == (size_t) picture->width * 4 ? passes : 0;
}

// Reads lines that lie behind each other, width × 4 bytes each. Returns 0, or -1 if it is broken.
static inline int shim_png_lines(struct shim_png *picture, uint8_t *pixels, uint32_t count) {
    if (setjmp(png_jmpbuf(picture->png))) return -1;
    for (uint32_t line = 0; line < count; line++)
        png_read_row(picture->png, pixels + (size_t) line * picture->width * 4, NULL);
    return 0;
}
