// gumbo, the HTML5 parser, for Swift: the default options are a global that the importer takes for mutable state.
#pragma once

#include <gumbo.h>

// Parses what may stand in a <body>. Text goes in whole: data must live as long as the output.
static inline GumboOutput *shim_gumbo_parse(const char *data, size_t length) {
    GumboOptions options = kGumboDefaultOptions;
    options.fragment_context = GUMBO_TAG_BODY;
    options.max_errors = 0;
    return gumbo_parse_with_options(&options, data, length);
}
static inline void shim_gumbo_free(GumboOutput *output) { gumbo_destroy_output(&kGumboDefaultOptions, output); }
