// The highlighting engine of GtkSourceView 5, as much as is used of it.
//
// Declared here and not included: the library's header brings GTK in a second time, and Swift would then see each of
// its types twice. The functions are of GtkSourceView 5.0; objects are GObjects, iterators GtkTextIter.
#pragma once

void gtk_source_init(void);
void *gtk_source_language_manager_get_default(void);
void *gtk_source_language_manager_get_language(void *manager, const char *id);
void *gtk_source_language_manager_guess_language(void *manager, const char *filename, const char *content_type);
void *gtk_source_style_scheme_manager_get_default(void);
void *gtk_source_style_scheme_manager_get_scheme(void *manager, const char *id);
void *gtk_source_buffer_new_with_language(void *language);
void gtk_source_buffer_set_style_scheme(void *buffer, void *scheme);
void gtk_source_buffer_set_highlight_matching_brackets(void *buffer, int highlight);
void gtk_source_buffer_ensure_highlight(void *buffer, const void *start, const void *end);
