// libwebp: gdk-pixbuf has no loader for it in Debian 12.
#pragma once

#include <webp/decode.h>
#include <webp/demux.h>
