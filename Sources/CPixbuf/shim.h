// gdk-pixbuf alone, without GTK, for the process that decodes pictures.
#pragma once

#include <gdk-pixbuf/gdk-pixbuf.h>

static inline gulong shim_connect(gpointer object, const char *signal, GCallback callback, gpointer data) {
    return g_signal_connect_data(object, signal, callback, data, NULL, 0);
}

// gdk-pixbuf tells the time of a moving picture by a type that GLib has deprecated.
G_GNUC_BEGIN_IGNORE_DEPRECATIONS
static inline GdkPixbufAnimationIter *shim_movie_start(GdkPixbufAnimation *movie) {
    GTimeVal time = {1, 0};
    return gdk_pixbuf_animation_get_iter(movie, &time);
}
static inline void shim_movie_advance(GdkPixbufAnimationIter *iterator, gint64 milliseconds) {
    GTimeVal time = {(glong)(1 + milliseconds / 1000), (glong)(milliseconds % 1000 * 1000)};
    gdk_pixbuf_animation_iter_advance(iterator, &time);
}
G_GNUC_END_IGNORE_DEPRECATIONS
