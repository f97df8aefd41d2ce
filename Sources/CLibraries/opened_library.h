// Loads a library when the first of its functions is called. If they were linked, sound, HTTP, archives, the keyring
// and code highlighting would load some 50 libraries before the first window, and few sessions need all of them.
#pragma once

#include <dlfcn.h>
#include <stdio.h>

// Opens a library, or prints why it cannot be opened. Opening it again only increments its reference count.
static inline void *shim_opened(void *library) {
    if (!library) fprintf(stderr, "parlance: %s\n", dlerror());
    return library;
}

static inline void *shim_found(void *library, const char *name) {
    void *function = library ? dlsym(library, name) : NULL;
    if (library && !function) fprintf(stderr, "parlance: %s\n", dlerror());
    return function;
}

// Defines a function that calls `symbol` of a library, or returns 0 if the library cannot be opened. Callers must
// handle a returned NULL. `name` may equal `symbol` if the header of the library is not included.
#define SHIM_CALL(library, result, name, symbol, parameters, arguments)                                \
    static inline result name parameters {                                                             \
        static __typeof__(&symbol) shim_kept;                                                          \
        __typeof__(&symbol) shim_target = __atomic_load_n(&shim_kept, __ATOMIC_ACQUIRE);               \
        if (!shim_target) {                                                                            \
            shim_target = (__typeof__(&symbol)) shim_found(library(), #symbol);                        \
            __atomic_store_n(&shim_kept, shim_target, __ATOMIC_RELEASE);                               \
        }                                                                                              \
        return shim_target ? shim_target arguments : (result) 0;                                       \
    }
