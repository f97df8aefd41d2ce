// The part of GtkSourceView 5 that highlights code. Loaded when the first code in a known language is shown.
//
// Declared here instead of included: with the library's header, Swift would import GTK a second time and treat the two
// copies' types as different. The functions are those of GtkSourceView 5.0; objects are GObjects, iterators
// GtkTextIter.
#pragma once

#include "../opened_library.h"

static inline void *shim_gtk_source(void) { return shim_opened(dlopen("libgtksourceview-5.so.0", RTLD_NOW)); }

#define SHIM_SOURCE(result, name, parameters, arguments) SHIM_CALL(shim_gtk_source, result, name, name, parameters, arguments)

SHIM_SOURCE(void, gtk_source_init, (void), ())
SHIM_SOURCE(void *, gtk_source_language_manager_get_default, (void), ())
SHIM_SOURCE(void *, gtk_source_language_manager_get_language, (void *manager, const char *id), (manager, id))
SHIM_SOURCE(void *, gtk_source_language_manager_guess_language,
            (void *manager, const char *filename, const char *content_type),
            (manager, filename, content_type))
SHIM_SOURCE(void *, gtk_source_style_scheme_manager_get_default, (void), ())
SHIM_SOURCE(void *, gtk_source_style_scheme_manager_get_scheme, (void *manager, const char *id), (manager, id))
SHIM_SOURCE(void *, gtk_source_buffer_new_with_language, (void *language), (language))
SHIM_SOURCE(void, gtk_source_buffer_set_style_scheme, (void *buffer, void *scheme), (buffer, scheme))
SHIM_SOURCE(void, gtk_source_buffer_set_highlight_matching_brackets, (void *buffer, int highlight), (buffer, highlight))
SHIM_SOURCE(void, gtk_source_buffer_ensure_highlight, (void *buffer, const void *start, const void *end),
            (buffer, start, end))

#undef SHIM_SOURCE
