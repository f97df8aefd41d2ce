// Xlib, by which tests talk to the window manager. Widget libraries do not use it.
#pragma once

#include <X11/Xatom.h>
#include <X11/Xlib.h>
