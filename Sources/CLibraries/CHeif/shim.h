// libheif, opened only for an AVIF or HEIC: what it brings along would cost every other picture's start.
#pragma once

#include <dlfcn.h>
#include <libheif/heif.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SHIM_HEIF_FUNCTIONS(use) \
    use(heif_init) \
    use(heif_context_alloc) \
    use(heif_context_free) \
    use(heif_context_set_max_decoding_threads) \
    use(heif_context_read_from_memory_without_copy) \
    use(heif_context_get_primary_image_handle) \
    use(heif_image_handle_release) \
    use(heif_image_handle_get_width) \
    use(heif_image_handle_get_height) \
    use(heif_image_handle_has_alpha_channel) \
    use(heif_image_handle_is_premultiplied_alpha) \
    use(heif_image_handle_get_color_profile_type) \
    use(heif_image_handle_get_raw_color_profile_size) \
    use(heif_image_handle_get_raw_color_profile) \
    use(heif_image_handle_get_nclx_color_profile) \
    use(heif_nclx_color_profile_free) \
    use(heif_decoding_options_alloc) \
    use(heif_decoding_options_free) \
    use(heif_decode_image) \
    use(heif_image_get_width) \
    use(heif_image_get_height) \
    use(heif_image_get_plane_readonly) \
    use(heif_image_release)

struct shim_heif_library {
#define SHIM_DECLARE(name) __typeof__(&name) name;
    SHIM_HEIF_FUNCTIONS(SHIM_DECLARE)
#undef SHIM_DECLARE
};

// Opens it and its decoders. Returns 0, or -1 where it is not installed.
static inline int shim_heif_load(struct shim_heif_library *library) {
    void *handle = dlopen("libheif.so.1", RTLD_NOW);
    if (!handle) return -1;
#define SHIM_FIND(name) \
    if (!(library->name = (__typeof__(library->name)) dlsym(handle, #name))) return -1;
    SHIM_HEIF_FUNCTIONS(SHIM_FIND)
#undef SHIM_FIND
    return library->heif_init(NULL).code == heif_error_Ok ? 0 : -1;
}

enum shim_heif_result { shim_heif_ok = 0, shim_heif_broken = 1, shim_heif_unknown = 2, shim_heif_stopped = 3 };

static inline enum shim_heif_result shim_heif_result_of(struct heif_error error) {
    switch (error.code) {
    case heif_error_Ok: return shim_heif_ok;
    // Of another kind, or no decoder is installed for it.
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature: return shim_heif_unknown;
    case heif_error_Memory_allocation_error: return shim_heif_stopped;
    default: return shim_heif_broken;
    }
}

struct shim_heif {
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    // As it is seen.
    int width, height;
    int has_alpha, is_premultiplied;
    uint8_t *profile;
    size_t profile_count;
    // ITU-T H.273; 2 if it is not told.
    int primaries;
    const uint8_t *pixels;
    int stride;
};

static inline void shim_heif_close(const struct shim_heif_library *library, struct shim_heif *picture) {
    if (picture->image) library->heif_image_release(picture->image);
    if (picture->handle) library->heif_image_handle_release(picture->handle);
    if (picture->context) library->heif_context_free(picture->context);
    free(picture->profile);
    memset(picture, 0, sizeof *picture);
}

// Reads all before the pixels. The bytes must outlive it.
static inline enum shim_heif_result shim_heif_open(
    const struct shim_heif_library *library, struct shim_heif *picture, const uint8_t *bytes, size_t count
) {
    memset(picture, 0, sizeof *picture);
    picture->primaries = 2;
    picture->context = library->heif_context_alloc();
    if (!picture->context) return shim_heif_stopped;
    // In the one thread that there is.
    library->heif_context_set_max_decoding_threads(picture->context, 0);
    struct heif_error error =
        library->heif_context_read_from_memory_without_copy(picture->context, bytes, count, NULL);
    if (error.code == heif_error_Ok)
        error = library->heif_context_get_primary_image_handle(picture->context, &picture->handle);
    if (error.code != heif_error_Ok) return shim_heif_result_of(error);
    picture->width = library->heif_image_handle_get_width(picture->handle);
    picture->height = library->heif_image_handle_get_height(picture->handle);
    picture->has_alpha = library->heif_image_handle_has_alpha_channel(picture->handle);
    picture->is_premultiplied = library->heif_image_handle_is_premultiplied_alpha(picture->handle);
    enum heif_color_profile_type kind = library->heif_image_handle_get_color_profile_type(picture->handle);
    if (kind == heif_color_profile_type_rICC || kind == heif_color_profile_type_prof) {
        size_t size = library->heif_image_handle_get_raw_color_profile_size(picture->handle);
        picture->profile = size > 0 && size <= 4 << 20 ? (uint8_t *) malloc(size) : NULL;
        if (picture->profile &&
            library->heif_image_handle_get_raw_color_profile(picture->handle, picture->profile).code == heif_error_Ok)
            picture->profile_count = size;
    }
    struct heif_color_profile_nclx *told = NULL;
    if (library->heif_image_handle_get_nclx_color_profile(picture->handle, &told).code == heif_error_Ok && told) {
        picture->primaries = (int) told->color_primaries;
        library->heif_nclx_color_profile_free(told);
    }
    return shim_heif_ok;
}

// Decodes it upright to `pixels`, lines `stride` bytes apart: red, green, blue, and alpha if it has one.
static inline enum shim_heif_result shim_heif_decode(const struct shim_heif_library *library, struct shim_heif *picture) {
    struct heif_decoding_options *options = library->heif_decoding_options_alloc();
    if (!options) return shim_heif_stopped;
    options->convert_hdr_to_8bit = 1;
    options->strict_decoding = 1;
    struct heif_error error = library->heif_decode_image(
        picture->handle, &picture->image, heif_colorspace_RGB,
        picture->has_alpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, options);
    library->heif_decoding_options_free(options);
    if (error.code != heif_error_Ok) return shim_heif_result_of(error);
    picture->width = library->heif_image_get_width(picture->image, heif_channel_interleaved);
    picture->height = library->heif_image_get_height(picture->image, heif_channel_interleaved);
    picture->pixels = library->heif_image_get_plane_readonly(picture->image, heif_channel_interleaved, &picture->stride);
    return picture->pixels ? shim_heif_ok : shim_heif_broken;
}
