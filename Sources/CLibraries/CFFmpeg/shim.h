// FFmpeg's libraries, for the process that decodes films and sounds: macros, and what changed between 5.1 and 8.
#pragma once

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

static const int shim_again = AVERROR(EAGAIN);
static const int shim_end_of_file = AVERROR_EOF;
static const int64_t shim_no_time = AV_NOPTS_VALUE;
static const int shim_whole_size = AVSEEK_SIZE;

// How far the stored frames are turned, in degrees counterclockwise; 0 if the file does not tell.
static inline double shim_turned(AVStream *stream) {
    const int32_t *matrix = NULL;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 31, 100)
    const AVPacketSideData *side = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    if (side && side->size >= 9 * sizeof(int32_t)) matrix = (const int32_t *) side->data;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    if (data && size >= 9 * sizeof(int32_t)) matrix = (const int32_t *) data;
#endif
    return matrix ? av_display_rotation_get(matrix) : 0;
}

// 48,000 samples a second of two channels, 16 bits each, from whatever a decoder gives.
static inline SwrContext *shim_to_stereo(const AVFrame *from) {
    AVChannelLayout stereo = AV_CHANNEL_LAYOUT_STEREO;
    AVChannelLayout given = from->ch_layout;
    if (given.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&given, from->ch_layout.nb_channels);
    SwrContext *converter = NULL;
    if (swr_alloc_set_opts2(&converter, &stereo, AV_SAMPLE_FMT_S16, 48000, &given,
                            (enum AVSampleFormat) from->format, from->sample_rate, 0, NULL) < 0)
        return NULL;
    if (swr_init(converter) < 0) swr_free(&converter);
    return converter;
}

// Draws a frame within width × height as red, green, blue and opaque alpha. The context is kept between calls; its type
// is hidden in some versions and not in others.
static inline int shim_draw(void **context, const AVFrame *frame, uint8_t *pixels, int width, int height) {
    struct SwsContext *scaler = sws_getCachedContext(
        (struct SwsContext *) *context, frame->width, frame->height, (enum AVPixelFormat) frame->format, width, height,
        AV_PIX_FMT_RGBA, SWS_BILINEAR, NULL, NULL, NULL);
    *context = scaler;
    if (!scaler) return -1;
    int space = frame->colorspace == AVCOL_SPC_UNSPECIFIED && frame->height >= 720 ? SWS_CS_ITU709 : frame->colorspace;
    const int *coefficients = sws_getCoefficients(space);
    sws_setColorspaceDetails(scaler, coefficients, frame->color_range == AVCOL_RANGE_JPEG, coefficients, 1, 0, 1 << 16,
                             1 << 16);
    uint8_t *planes[4] = {pixels, NULL, NULL, NULL};
    int strides[4] = {width * 4, 0, 0, 0};
    int lines = sws_scale(scaler, (const uint8_t *const *) frame->data, frame->linesize, 0, frame->height, planes, strides);
    return lines == height ? 0 : -1;
}

// Returns the samples that were written, at most `room`.
static inline int shim_convert(SwrContext *converter, uint8_t **into, int room, const AVFrame *frame) {
    return swr_convert(converter, into, room, (const uint8_t **) frame->extended_data, frame->nb_samples);
}
