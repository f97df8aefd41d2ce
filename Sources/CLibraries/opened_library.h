// Functions of libraries that are opened with the first of them that is called. If they were linked, sound, HTTP,
// archives, the keyring and code colors would load some 50 libraries before each window, and few sessions need all.
#pragma once

#include <dlfcn.h>
#include <stdio.h>

// Says what is wrong with a library that could not be opened. Opening one again only counts up.
static inline void *shim_opened(void *library) {
    if (!library) fprintf(stderr, "parlance: %s\n", dlerror());
    return library;
}

static inline void *shim_found(void *library, const char *name) {
    void *function = library ? dlsym(library, name) : NULL;
    if (library && !function) fprintf(stderr, "parlance: %s\n", dlerror());
    return function;
}

// Defines a function that calls `symbol` of a library, or returns 0 where that cannot be opened: callers have to take the
// NULL of what makes an object for that, and must not go on. `symbol` may be the function itself, declared here alone.
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
