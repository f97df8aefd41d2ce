// GTK 4 and libadwaita for Swift: what the importer cannot bring over by itself, and no logic.
#pragma once

#include <adwaita.h>
#include <dlfcn.h>
#include <glib-unix.h>
#include <glib/gi18n.h>
#include <gtk/gtk.h>
#include <libintl.h>
#include <locale.h>
#include <malloc.h>
#include <sys/timerfd.h>

#include "dialogs.h"
#include "split_view.h"

// libdispatch's hook for foreign run loops. The handle is an eventfd on Linux. Declared privately in libdispatch,
// exported for CoreFoundation, and what every run loop on Linux that serves the main queue uses.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// A timer on the system's clock, which the kernel cancels when the clock is set. Swift does not import timerfd.
static inline int shim_clock_timer(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }
static inline gboolean shim_arm_clock_timer(int timer, time_t expiry) {
    struct itimerspec time = {.it_value = {.tv_sec = expiry}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &time, NULL) == 0;
}

// The program's code in memory, between two addresses that each linker defines.
extern char __executable_start, etext;
static inline gpointer shim_code_start(void) { return &__executable_start; }
static inline gpointer shim_code_end(void) { return &etext; }

// Macros with casts inside.
static inline GType shim_type_string(void) { return G_TYPE_STRING; }
static inline GType shim_type_boolean(void) { return G_TYPE_BOOLEAN; }
static inline GType shim_type_int(void) { return G_TYPE_INT; }
static inline GType shim_type_uint(void) { return G_TYPE_UINT; }
static inline GType shim_type_double(void) { return G_TYPE_DOUBLE; }
static inline GType shim_type_object(void) { return G_TYPE_OBJECT; }
static inline GType shim_type_none(void) { return G_TYPE_NONE; }
static inline GType shim_instance_type(gpointer instance) { return G_TYPE_FROM_INSTANCE(instance); }
static inline gpointer shim_instance_class(gpointer instance) { return G_OBJECT_GET_CLASS(instance); }
static inline GType shim_class_type(gpointer klass) { return G_TYPE_FROM_CLASS(klass); }
static inline gboolean shim_is_a(gpointer instance, GType type) { return G_TYPE_CHECK_INSTANCE_TYPE(instance, type); }
static inline gpointer shim_closure_data(GClosure *closure) { return closure->data; }
static inline GType shim_value_type(const GValue *value) { return G_VALUE_TYPE(value); }
// From GLib 2.88 the flag enumerations have an attribute by which Swift imports their constants under other names or not
// at all: these are the same for every version.
static const GApplicationFlags shim_application_handles_open = G_APPLICATION_HANDLES_OPEN;
static const GApplicationFlags shim_application_is_service = G_APPLICATION_IS_SERVICE;
static const GApplicationFlags shim_application_non_unique = G_APPLICATION_NON_UNIQUE;
static const GFileQueryInfoFlags shim_file_query_info_none = G_FILE_QUERY_INFO_NONE;
static const GIOCondition shim_io_in = G_IO_IN;
static const GParamFlags shim_param_readwrite = (GParamFlags) (G_PARAM_READABLE | G_PARAM_WRITABLE);
static const GParamFlags shim_param_explicit_notify = G_PARAM_EXPLICIT_NOTIFY;
static const GSettingsBindFlags shim_settings_bind_default = G_SETTINGS_BIND_DEFAULT;
static const GSettingsBindFlags shim_settings_bind_get = G_SETTINGS_BIND_GET;
static const GSignalFlags shim_signal_run_last = G_SIGNAL_RUN_LAST;
// What newer GTK deprecates, by the successor where there is one; docs/dependencies.md lists the rest.
static inline gboolean shim_translate(gpointer from, gpointer to, double x, double y, double *there_x, double *there_y) {
    graphene_point_t there;
    if (!gtk_widget_compute_point(from, to, &GRAPHENE_POINT_INIT((float) x, (float) y), &there)) return FALSE;
    *there_x = there.x;
    *there_y = there.y;
    return TRUE;
}
static inline void shim_widget_color(gpointer widget, GdkRGBA *color) {
#if GTK_CHECK_VERSION(4, 10, 0)
    gtk_widget_get_color(widget, color);
#else
    gtk_style_context_get_color(gtk_widget_get_style_context(widget), color);
#endif
}
static inline gboolean shim_named_color(gpointer widget, const char *name, GdkRGBA *color) {
    return gtk_style_context_lookup_color(gtk_widget_get_style_context(widget), name, color);
}
static inline void shim_append_layout(gpointer snapshot, gpointer widget, gpointer layout) {
    GdkRGBA color;
    shim_widget_color(widget, &color);
    gtk_snapshot_append_layout(snapshot, layout, &color);
}
static inline void shim_load_css(gpointer provider, const char *css) {
#if GTK_CHECK_VERSION(4, 12, 0)
    gtk_css_provider_load_from_string(provider, css);
#else
    gtk_css_provider_load_from_data(provider, css, -1);
#endif
}
static inline void shim_select_day(gpointer calendar, GDateTime *day) {
#if GTK_CHECK_VERSION(4, 20, 0)
    gtk_calendar_set_date(calendar, day);
#else
    gtk_calendar_select_day(calendar, day);
#endif
}
static inline gboolean shim_forward_key(gpointer controller, gpointer widget) {
    return gtk_event_controller_key_forward(controller, widget);
}
static inline void shim_show_uri(gpointer parent, const char *uri) {
    gtk_show_uri(parent, uri, GDK_CURRENT_TIME);
}
// Variadic in C.
static inline void shim_accessible_label(gpointer widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}
static inline void shim_accessible_description(gpointer widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}
static inline void shim_accessible_placeholder(gpointer widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_PLACEHOLDER, text, -1);
}
static inline void shim_accessible_selected(gpointer widget, gboolean selected) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_SELECTED, selected, -1);
}
static inline void shim_accessible_expanded(gpointer widget, gboolean expanded) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_EXPANDED, expanded, -1);
}
static inline void shim_accessible_unexpandable(gpointer widget) {
    gtk_accessible_reset_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_EXPANDED);
}
static inline void shim_accessible_hidden(gpointer widget) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_HIDDEN, TRUE, -1);
}
static inline void shim_accessible_completes(gpointer widget) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_AUTOCOMPLETE,
                                   GTK_ACCESSIBLE_AUTOCOMPLETE_LIST, -1);
}
static inline void shim_accessible_controls(gpointer widget, gpointer controlled) {
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_CONTROLS, controlled, NULL, -1);
}
static inline void shim_accessible_active_descendant(gpointer widget, gpointer descendant) {
    if (descendant)
        gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_ACTIVE_DESCENDANT, descendant, -1);
    else
        gtk_accessible_reset_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_ACTIVE_DESCENDANT);
}
static inline gpointer shim_object_new(GType type) { return g_object_new(type, NULL); }
static inline gpointer shim_application_new(GType type, const char *id, GApplicationFlags flags) {
    return g_object_new(type, "application-id", id, "flags", flags, NULL);
}
static inline gpointer shim_object_new_with_role(GType type, GtkAccessibleRole role) {
    return g_object_new(type, "accessible-role", role, NULL);
}
// The role of a widget that has not been shown; one that its class or maker chose stays.
static inline void shim_default_role(gpointer widget, GtkAccessibleRole role) {
    GtkAccessibleRole present = gtk_accessible_get_accessible_role(GTK_ACCESSIBLE(widget));
    if (present == GTK_ACCESSIBLE_ROLE_GENERIC || present == GTK_ACCESSIBLE_ROLE_WIDGET)
        g_object_set(widget, "accessible-role", role, NULL);
}
static inline void shim_set_class_role(gpointer widget) {
    GtkAccessibleRole role = gtk_widget_class_get_accessible_role(GTK_WIDGET_GET_CLASS(widget));
    g_object_set(widget, "accessible-role", role, NULL);
}
// The position of the surface's origin on the screen of an X server, in application pixels; FALSE on other displays.
// Looked up, as GTK may be built without X11 and nothing else here needs its library.
static inline gboolean shim_x11_root_position(GdkSurface *surface, int *x, int *y) {
    if (!g_str_has_prefix(G_OBJECT_TYPE_NAME(surface), "GdkX11")) return FALSE;
    unsigned long (*window)(GdkSurface *) =
        (unsigned long (*)(GdkSurface *))dlsym(RTLD_DEFAULT, "gdk_x11_surface_get_xid");
    gpointer (*server)(GdkDisplay *) = (gpointer (*)(GdkDisplay *))dlsym(RTLD_DEFAULT, "gdk_x11_display_get_xdisplay");
    unsigned long (*root)(GdkDisplay *) =
        (unsigned long (*)(GdkDisplay *))dlsym(RTLD_DEFAULT, "gdk_x11_display_get_xrootwindow");
    int (*translate)(gpointer, unsigned long, unsigned long, int, int, int *, int *, unsigned long *) =
        (int (*)(gpointer, unsigned long, unsigned long, int, int, int *, int *, unsigned long *))dlsym(
            RTLD_DEFAULT, "XTranslateCoordinates");
    if (!window || !server || !root || !translate) return FALSE;
    GdkDisplay *display = gdk_surface_get_display(surface);
    unsigned long child = 0;
    if (!translate(server(display), window(surface), root(display), 0, 0, x, y, &child)) return FALSE;
    *x /= gdk_surface_get_scale_factor(surface);
    *y /= gdk_surface_get_scale_factor(surface);
    return TRUE;
}
// A macro with a format.
static inline void shim_warning(const char *message) { g_warning("%s", message); }
