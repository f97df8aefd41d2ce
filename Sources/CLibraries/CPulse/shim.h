// PulseAudio's simple interface, which PipeWire serves as well.
#pragma once

#include <pulse/error.h>
#include <pulse/simple.h>
