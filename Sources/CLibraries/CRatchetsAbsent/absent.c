#include "absent.h"

// RATCHET_ABSENT of ratchets.h.
int ratchet_absent(void) { return 12; }

bool ratchet_absent_no(void) { return false; }

void ratchet_absent_nothing(void) {}

const char *ratchet_absent_version(void) { return ""; }
