// The least that a libadwaita application can be: what Parlance's start is measured against.
#include <adwaita.h>

static void activate(GApplication *application) {
    GtkWidget *window = adw_application_window_new(GTK_APPLICATION(application));
    gtk_window_set_default_size(GTK_WINDOW(window), 960, 680);
    gtk_window_present(GTK_WINDOW(window));
}

int main(int argc, char **argv) {
    AdwApplication *application = adw_application_new("io.github.parlance_chat.EmptyWindow", 0);
    g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
    return g_application_run(G_APPLICATION(application), argc, argv);
}
