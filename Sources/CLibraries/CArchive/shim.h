// libarchive, which reads ZIP files, for Swift.
#pragma once

#include <archive.h>
#include <archive_entry.h>
