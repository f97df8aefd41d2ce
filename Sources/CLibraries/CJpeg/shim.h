// libjpeg-turbo. It leaves an error by a function that must not return: the longjmp() of it never passes through Swift,
// each call of ours ends here, and tells.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

// More than any program writes; each costs the time of the whole picture.
enum { shim_jpeg_most_scans = 200 };

struct shim_jpeg {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    int is_at_end;
};

// What Swift is told.
struct shim_jpeg_header {
    uint32_t width, height;
    // Four channels of ink, inverted as Adobe writes it, or not.
    int is_cmyk, is_inverted;
    // Within what libjpeg holds; NULL if there is none.
    const uint8_t *exif;
    size_t exif_count;
    // To be freed.
    uint8_t *profile;
    uint32_t profile_count;
};

static inline void shim_jpeg_fail(j_common_ptr decoder) {
    longjmp(((struct shim_jpeg *) decoder->client_data)->failed, 1);
}

// Data that ends in the midst of pixels, or before the last of several scans, is no warning, as it is for libjpeg. That
// the end of one scan is not marked is.
static inline void shim_jpeg_warned(j_common_ptr decoder, int level) {
    struct shim_jpeg *picture = (struct shim_jpeg *) decoder->client_data;
    if (level >= 0) return;
    if (decoder->err->msg_code == JWRN_JPEG_EOF) {
        picture->is_at_end = 1;
        if (jpeg_has_multiple_scans((j_decompress_ptr) decoder)) shim_jpeg_fail(decoder);
    }
    if (decoder->err->msg_code == JWRN_HIT_MARKER && picture->is_at_end) shim_jpeg_fail(decoder);
}

static inline void shim_jpeg_progressed(j_common_ptr decoder) {
    if (((j_decompress_ptr) decoder)->input_scan_number > shim_jpeg_most_scans) shim_jpeg_fail(decoder);
}

static inline void shim_jpeg_close(struct shim_jpeg *picture) {
    if (picture) jpeg_destroy_decompress(&picture->decoder);
    free(picture);
}

// Reads all before the pixels. Returns NULL if it is broken. The bytes must outlive what is returned.
static inline struct shim_jpeg *shim_jpeg_open(const uint8_t *bytes, size_t count, struct shim_jpeg_header *header) {
    struct shim_jpeg *picture = (struct shim_jpeg *) calloc(1, sizeof *picture);
    if (!picture) return NULL;
    struct jpeg_decompress_struct *decoder = &picture->decoder;
    decoder->err = jpeg_std_error(&picture->errors);
    decoder->client_data = picture;
    picture->errors.error_exit = shim_jpeg_fail;
    picture->errors.emit_message = shim_jpeg_warned;
    if (setjmp(picture->failed)) {
        shim_jpeg_close(picture);
        return NULL;
    }
    jpeg_create_decompress(decoder);
    picture->progress.progress_monitor = shim_jpeg_progressed;
    decoder->progress = &picture->progress;
    jpeg_mem_src(decoder, (unsigned char *) bytes, count);
    jpeg_save_markers(decoder, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(decoder, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(decoder, TRUE);
    memset(header, 0, sizeof *header);
    header->width = decoder->image_width;
    header->height = decoder->image_height;
    header->is_cmyk = decoder->num_components == 4;
    header->is_inverted = decoder->saw_Adobe_marker;
    for (jpeg_saved_marker_ptr marker = decoder->marker_list; marker; marker = marker->next) {
        if (marker->marker != JPEG_APP0 + 1 || marker->data_length < 6 || memcmp(marker->data, "Exif\0", 6)) continue;
        header->exif = marker->data + 6;
        header->exif_count = marker->data_length - 6;
        break;
    }
    JOCTET *profile = NULL;
    unsigned int profile_count = 0;
    if (jpeg_read_icc_profile(decoder, &profile, &profile_count)) {
        header->profile = profile;
        header->profile_count = profile_count;
    }
    return picture;
}

// Starts decoding 1/denominator of the size (1, 2, 4 or 8) to red, green, blue and alpha, or to four inks.
// Returns 0, or -1 if it is broken.
static inline int shim_jpeg_start(struct shim_jpeg *picture, int denominator, uint32_t *width, uint32_t *height) {
    struct jpeg_decompress_struct *decoder = &picture->decoder;
    if (setjmp(picture->failed)) return -1;
    decoder->scale_num = 1;
    decoder->scale_denom = (unsigned int) denominator;
    decoder->out_color_space = decoder->num_components == 4 ? JCS_CMYK : JCS_EXT_RGBA;
    jpeg_start_decompress(decoder);
    *width = decoder->output_width;
    *height = decoder->output_height;
    return decoder->output_components == 4 ? 0 : -1;
}

// Returns 0, or -1 if it is broken.
static inline int shim_jpeg_line(struct shim_jpeg *picture, uint8_t *pixels) {
    if (setjmp(picture->failed)) return -1;
    JSAMPROW line = pixels;
    return jpeg_read_scanlines(&picture->decoder, &line, 1) == 1 ? 0 : -1;
}

// Writes a JPEG of red, green, blue and alpha, which is left out. Returns its bytes, to be freed; NULL if it can't.
static inline uint8_t *shim_jpeg_of(const uint8_t *pixels, int width, int height, int quality, size_t *count) {
    struct writer {
        struct jpeg_compress_struct encoder;
        struct jpeg_error_mgr errors;
        unsigned char *bytes;
        unsigned long count;
    };
    // The functions above find `failed` where a decoder has it.
    struct shim_jpeg *frame = (struct shim_jpeg *) calloc(1, sizeof *frame);
    struct writer *writer = (struct writer *) calloc(1, sizeof *writer);
    if (!frame || !writer) {
        free(frame);
        free(writer);
        return NULL;
    }
    uint8_t *bytes = NULL;
    writer->encoder.err = jpeg_std_error(&writer->errors);
    writer->encoder.client_data = frame;
    writer->errors.error_exit = shim_jpeg_fail;
    // What was written until an error is lost: libjpeg may have freed it, and does not tell.
    if (!setjmp(frame->failed)) {
        jpeg_create_compress(&writer->encoder);
        jpeg_mem_dest(&writer->encoder, &writer->bytes, &writer->count);
        writer->encoder.image_width = (JDIMENSION) width;
        writer->encoder.image_height = (JDIMENSION) height;
        writer->encoder.input_components = 4;
        writer->encoder.in_color_space = JCS_EXT_RGBA;
        jpeg_set_defaults(&writer->encoder);
        jpeg_set_quality(&writer->encoder, quality, TRUE);
        jpeg_start_compress(&writer->encoder, TRUE);
        for (int line = 0; line < height; line++) {
            JSAMPROW row = (JSAMPROW) pixels + (size_t) line * (size_t) width * 4;
            jpeg_write_scanlines(&writer->encoder, &row, 1);
        }
        jpeg_finish_compress(&writer->encoder);
        bytes = writer->bytes;
        *count = writer->count;
    }
    jpeg_destroy_compress(&writer->encoder);
    free(writer);
    free(frame);
    return bytes;
}
