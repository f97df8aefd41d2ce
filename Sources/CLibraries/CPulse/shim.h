// PulseAudio's simple API, which PipeWire implements, too. Loaded when the first sound is played.
#pragma once

#include "../opened_library.h"
#include <pulse/simple.h>

static inline void *shim_pulse(void) { return shim_opened(dlopen("libpulse-simple.so.0", RTLD_NOW)); }

#define SHIM_PULSE(result, name, parameters, arguments) \
    SHIM_CALL(shim_pulse, result, parlance_##name, name, parameters, arguments)

SHIM_PULSE(pa_simple *, pa_simple_new,
           (const char *server, const char *name, pa_stream_direction_t direction, const char *device,
            const char *stream, const pa_sample_spec *form, const pa_channel_map *map, const pa_buffer_attr *buffer,
            int *error),
           (server, name, direction, device, stream, form, map, buffer, error))
SHIM_PULSE(void, pa_simple_free, (pa_simple *connection), (connection))
SHIM_PULSE(int, pa_simple_write, (pa_simple *connection, const void *data, size_t count, int *error),
           (connection, data, count, error))
SHIM_PULSE(int, pa_simple_drain, (pa_simple *connection, int *error), (connection, error))
SHIM_PULSE(pa_usec_t, pa_simple_get_latency, (pa_simple *connection, int *error), (connection, error))

#undef SHIM_PULSE
