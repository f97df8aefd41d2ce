// Two panes that fold into one: AdwNavigationSplitView where libadwaita has it (1.4), AdwLeaflet before.
#pragma once

#include <adwaita.h>

#define SHIM_HAS_SPLIT_VIEW ADW_CHECK_VERSION(1, 4, 0)

// The panes of a leaflet with the children "rooms" and "conversation", which is the child of an AdwBin, in what is to show
// them. The window folds them when it is no wider than `fold_width`, in pixels; a leaflet folds by what its children need.
static inline gpointer shim_split_view(gpointer leaflet, gpointer window, int sidebar_width, int fold_width,
                                       const char *sidebar_title, const char *content_title) {
#if SHIM_HAS_SPLIT_VIEW
    GtkWidget *slot = gtk_widget_get_parent(leaflet);
    GtkWidget *sidebar = g_object_ref(adw_leaflet_get_child_by_name(leaflet, "rooms"));
    GtkWidget *content = g_object_ref(adw_leaflet_get_child_by_name(leaflet, "conversation"));
    adw_leaflet_remove(leaflet, sidebar);
    adw_leaflet_remove(leaflet, content);
    AdwNavigationSplitView *view = ADW_NAVIGATION_SPLIT_VIEW(adw_navigation_split_view_new());
    adw_navigation_split_view_set_sidebar_width_unit(view, ADW_LENGTH_UNIT_PX);
    adw_navigation_split_view_set_min_sidebar_width(view, sidebar_width);
    adw_navigation_split_view_set_max_sidebar_width(view, sidebar_width);
    adw_navigation_split_view_set_sidebar(view, adw_navigation_page_new(sidebar, sidebar_title));
    adw_navigation_split_view_set_content(view, adw_navigation_page_new(content, content_title));
    g_object_unref(sidebar);
    g_object_unref(content);
    adw_bin_set_child(ADW_BIN(slot), GTK_WIDGET(view));
    AdwBreakpoint *folding = adw_breakpoint_new(
        adw_breakpoint_condition_new_length(ADW_BREAKPOINT_CONDITION_MAX_WIDTH, fold_width, ADW_LENGTH_UNIT_PX));
    GValue is_collapsed = G_VALUE_INIT;
    g_value_init(&is_collapsed, G_TYPE_BOOLEAN);
    g_value_set_boolean(&is_collapsed, TRUE);
    adw_breakpoint_add_setter(folding, G_OBJECT(view), "collapsed", &is_collapsed);
    g_value_unset(&is_collapsed);
    adw_application_window_add_breakpoint(window, folding);
    return view;
#else
    // AdwLeaflet sets the CSS classes of its first children, which draw its transitions, in each allocation, and GTK
    // restyles all siblings after them: the whole window, in each frame that lays out a row. Move the pages before them;
    // the drawing order does not depend on this.
    GListModel *pages = G_LIST_MODEL(adw_leaflet_get_pages(leaflet));
    for (guint i = g_list_model_get_n_items(pages); i-- > 0;) {
        AdwLeafletPage *page = g_list_model_get_item(pages, i);
        gtk_widget_insert_after(adw_leaflet_page_get_child(page), leaflet, NULL);
        g_object_unref(page);
    }
    g_object_unref(pages);
    return leaflet;
#endif
}
static inline const char *shim_split_view_folding(void) { return SHIM_HAS_SPLIT_VIEW ? "collapsed" : "folded"; }
static inline gboolean shim_split_view_shows_content(gpointer view) {
#if SHIM_HAS_SPLIT_VIEW
    return adw_navigation_split_view_get_show_content(view);
#else
    return g_strcmp0(adw_leaflet_get_visible_child_name(view), "conversation") == 0;
#endif
}
static inline void shim_split_view_show_content(gpointer view, gboolean shows_content) {
#if SHIM_HAS_SPLIT_VIEW
    adw_navigation_split_view_set_show_content(view, shows_content);
#else
    adw_leaflet_set_visible_child_name(view, shows_content ? "conversation" : "rooms");
#endif
}
// The program's own back button is the same for all versions.
static inline void shim_hide_back_button(gpointer header) {
#if SHIM_HAS_SPLIT_VIEW
    adw_header_bar_set_show_back_button(header, FALSE);
#endif
}
