// Xlib, by which tests and tools talk to the window manager. Widget libraries do not use it.
#pragma once

#include <X11/Xatom.h>
#include <X11/Xlib.h>
