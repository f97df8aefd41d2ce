// What stand-in/libratchets.a calls in place of the encryption library, where that was not built.
#pragma once

#include <stdbool.h>

int ratchet_absent(void);
bool ratchet_absent_no(void);
void ratchet_absent_nothing(void);
const char *ratchet_absent_version(void);
