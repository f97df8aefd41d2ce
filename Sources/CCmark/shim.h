// cmark-gfm, the CommonMark parser with GitHub's extensions, for Swift.
#pragma once

#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
#include <stdlib.h>
