// YAJL, which reads JSON event by event, for Swift.
#pragma once

#include <yajl/yajl_parse.h>

// Swift cannot call a function with a variable number of arguments.
static inline void shim_yajl_take_any_text(yajl_handle handle) {
    yajl_config(handle, yajl_dont_validate_strings, 1);
}
