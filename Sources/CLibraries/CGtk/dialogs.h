// Dialogs: within the parent window where libadwaita supports it (1.5), otherwise modal windows.
#pragma once

#include <adwaita.h>

#define SHIM_DIALOGS_IN_WINDOW ADW_CHECK_VERSION(1, 5, 0)

static inline gboolean shim_dialogs_in_window(void) { return SHIM_DIALOGS_IN_WINDOW; }

#if SHIM_DIALOGS_IN_WINDOW
#define SHIM_ALERT(function) adw_alert_dialog_##function
#define SHIM_ABOUT(function) adw_about_dialog_##function
#else
#define SHIM_ALERT(function) adw_message_dialog_##function
#define SHIM_ABOUT(function) adw_about_window_##function
#endif

static inline void shim_dialog_set_size(gpointer dialog, int width, int height) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_set_content_width(dialog, width);
    adw_dialog_set_content_height(dialog, height);
#else
    gtk_window_set_default_size(dialog, width, height);
#endif
}
static inline gpointer shim_dialog_new(int width, int height) {
#if SHIM_DIALOGS_IN_WINDOW
    gpointer dialog = adw_dialog_new();
#else
    gpointer dialog = adw_window_new();
    gtk_window_set_modal(dialog, TRUE);
#endif
    shim_dialog_set_size(dialog, width, height);
    return dialog;
}
static inline void shim_dialog_set_content(gpointer dialog, gpointer content) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_set_child(dialog, content);
#else
    adw_window_set_content(dialog, content);
#endif
}
static inline void shim_dialog_set_title(gpointer dialog, const char *title) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_set_title(dialog, title);
#else
    gtk_window_set_title(dialog, title);
#endif
}
static inline const char *shim_dialog_get_title(gpointer dialog) {
#if SHIM_DIALOGS_IN_WINDOW
    return adw_dialog_get_title(dialog);
#else
    return gtk_window_get_title(dialog);
#endif
}
// Creates a dialog with the title, size and content of an AdwWindow, such as one of a .ui file. Where dialogs are
// within their window, the AdwWindow is destroyed.
static inline gpointer shim_dialog_of_window(gpointer window) {
#if SHIM_DIALOGS_IN_WINDOW
    int width, height;
    gtk_window_get_default_size(window, &width, &height);
    gpointer dialog = shim_dialog_new(width, height);
    if (gtk_window_get_title(window)) shim_dialog_set_title(dialog, gtk_window_get_title(window));
    GtkWidget *content = g_object_ref(adw_window_get_content(window));
    adw_window_set_content(window, NULL);
    shim_dialog_set_content(dialog, content);
    g_object_unref(content);
    gtk_window_destroy(window);
    return dialog;
#else
    return window;
#endif
}
#if !SHIM_DIALOGS_IN_WINDOW
// Puts a dialog over the window below its parent, as the parent closes. GTK leaves the windows over a destroyed one
// without parent: they would no longer block the window below, nor stay in front of it. `destroy` is too late, as
// retained objects may hold the parent.
static inline void shim_dialog_parent_unmapped(GtkWindow *parent, gpointer dialog) {
    GtkWindow *next = gtk_window_get_transient_for(parent);
    if (!next || gtk_window_get_transient_for(dialog) != parent) return;
    gtk_window_set_transient_for(dialog, next);
    g_signal_connect_object(next, "unmap", G_CALLBACK(shim_dialog_parent_unmapped), dialog, 0);
}
#endif
// `parent` is a widget in a window or NULL; `application` keeps running for a dialog without parent.
static inline void shim_dialog_present(gpointer dialog, gpointer parent, gpointer application) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_present(dialog, parent);
    if (!parent && application) gtk_window_set_application(GTK_WINDOW(gtk_widget_get_root(dialog)), application);
#else
    GtkRoot *root = parent ? gtk_widget_get_root(parent) : NULL;
    if (GTK_IS_WINDOW(root)) {
        gtk_window_set_transient_for(dialog, GTK_WINDOW(root));
        g_signal_connect_object(root, "unmap", G_CALLBACK(shim_dialog_parent_unmapped), dialog, 0);
    }
    if (application) gtk_window_set_application(dialog, application);
    gtk_window_present(dialog);
#endif
}
static inline void shim_dialog_close(gpointer dialog) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_close(dialog);
#else
    gtk_window_close(dialog);
#endif
}
// Afterwards the dialog closes only by shim_dialog_force_close and emits `close-attempt` instead.
static inline void shim_dialog_intercept_closing(gpointer dialog) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_set_can_close(dialog, FALSE);
#endif
}
static inline void shim_dialog_force_close(gpointer dialog) {
#if SHIM_DIALOGS_IN_WINDOW
    adw_dialog_force_close(dialog);
#else
    gtk_window_destroy(dialog);
#endif
}
// The dialog that covers a window's content, or NULL; always NULL where dialogs are windows.
static inline gpointer shim_visible_dialog(gpointer window) {
#if SHIM_DIALOGS_IN_WINDOW
    if (ADW_IS_APPLICATION_WINDOW(window)) return adw_application_window_get_visible_dialog(window);
    if (ADW_IS_WINDOW(window)) return adw_window_get_visible_dialog(window);
#endif
    return NULL;
}

static inline gboolean shim_is_dialog(gpointer widget) {
#if SHIM_DIALOGS_IN_WINDOW
    return ADW_IS_DIALOG(widget);
#else
    return GTK_IS_WINDOW(widget) && gtk_window_get_modal(widget);
#endif
}

// An alert is a dialog with text and buttons for its responses.
static inline gpointer shim_alert_new(const char *heading, const char *body) {
#if SHIM_DIALOGS_IN_WINDOW
    return adw_alert_dialog_new(heading, body);
#else
    GtkWidget *window = adw_message_dialog_new(NULL, heading, body);
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    return window;
#endif
}
static inline GType shim_alert_type(void) { return SHIM_ALERT(get_type)(); }
static inline void shim_alert_add_response(gpointer alert, const char *id, const char *label) {
    SHIM_ALERT(add_response)(alert, id, label);
}
static inline void shim_alert_set_appearance(gpointer alert, const char *id, AdwResponseAppearance appearance) {
    SHIM_ALERT(set_response_appearance)(alert, id, appearance);
}
static inline void shim_alert_set_default(gpointer alert, const char *id) {
    SHIM_ALERT(set_default_response)(alert, id);
}
static inline void shim_alert_set_close(gpointer alert, const char *id) { SHIM_ALERT(set_close_response)(alert, id); }
static inline void shim_alert_set_enabled(gpointer alert, const char *id, gboolean is_enabled) {
    SHIM_ALERT(set_response_enabled)(alert, id, is_enabled);
}
static inline void shim_alert_set_extra(gpointer alert, gpointer child) { SHIM_ALERT(set_extra_child)(alert, child); }
// Emits the response and closes the alert, as its button does.
static inline void shim_alert_respond(gpointer alert, const char *id) {
#if SHIM_DIALOGS_IN_WINDOW
    char *signal = g_strconcat("response::", id, NULL);
    g_signal_emit_by_name(alert, signal, id);
    g_free(signal);
    adw_dialog_force_close(alert);
#else
    adw_message_dialog_response(alert, id);
#endif
}

static inline gpointer shim_about_new(void) {
#if SHIM_DIALOGS_IN_WINDOW
    return adw_about_dialog_new();
#else
    GtkWidget *window = adw_about_window_new();
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    return window;
#endif
}
static inline GType shim_about_type(void) { return SHIM_ABOUT(get_type)(); }
static inline void shim_about_add_license(
    gpointer about, const char *title, const char *copyright, GtkLicense license, const char *text) {
    SHIM_ABOUT(add_legal_section)(about, title, copyright, license, text);
}
