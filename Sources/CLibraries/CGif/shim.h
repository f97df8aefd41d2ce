// giflib, of which few distributions have a pkg-config file.
#pragma once

#include <gif_lib.h>
