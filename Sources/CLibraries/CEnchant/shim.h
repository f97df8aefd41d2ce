// Enchant, loaded when the first word is checked: with its dictionaries, it would slow down every start.
#pragma once

#include <dlfcn.h>
#include <enchant-2/enchant.h>
#include <stddef.h>

struct shim_enchant_library {
    __typeof__(&enchant_broker_init) init;
    __typeof__(&enchant_broker_list_dicts) list;
    __typeof__(&enchant_broker_request_dict) request;
    __typeof__(&enchant_dict_check) check;
    __typeof__(&enchant_dict_suggest) suggest;
    __typeof__(&enchant_dict_free_string_list) free_list;
    __typeof__(&enchant_dict_add) add;
    __typeof__(&enchant_dict_is_added) is_added;
};

// Returns 0, or -1 where it is not installed.
static inline int shim_enchant_load(struct shim_enchant_library *library) {
    void *handle = dlopen("libenchant-2.so.2", RTLD_NOW);
    if (!handle) return -1;
#define SHIM_FIND(member, name) \
    if (!(library->member = (__typeof__(library->member)) dlsym(handle, #name))) return -1
    SHIM_FIND(init, enchant_broker_init);
    SHIM_FIND(list, enchant_broker_list_dicts);
    SHIM_FIND(request, enchant_broker_request_dict);
    SHIM_FIND(check, enchant_dict_check);
    SHIM_FIND(suggest, enchant_dict_suggest);
    SHIM_FIND(free_list, enchant_dict_free_string_list);
    SHIM_FIND(add, enchant_dict_add);
    SHIM_FIND(is_added, enchant_dict_is_added);
#undef SHIM_FIND
    return 0;
}

static inline EnchantBroker *shim_enchant_init(const struct shim_enchant_library *library) { return library->init(); }

// Calls `found` with the tag of each dictionary.
static inline void shim_enchant_list(
    const struct shim_enchant_library *library, EnchantBroker *broker, EnchantDictDescribeFn found, void *data) {
    library->list(broker, found, data);
}

// Returns NULL if the dictionary cannot be read.
static inline EnchantDict *shim_enchant_request(
    const struct shim_enchant_library *library, EnchantBroker *broker, const char *tag) {
    return library->request(broker, tag);
}

// Returns 0 for a correct word, a positive value for a misspelled one, and a negative value on errors.
static inline int shim_enchant_check(const struct shim_enchant_library *library, EnchantDict *dictionary, const char *word) {
    return library->check(dictionary, word, -1);
}

// Returns NULL if there are none. Free the result with shim_enchant_free.
static inline char **shim_enchant_suggest(
    const struct shim_enchant_library *library, EnchantDict *dictionary, const char *word, size_t *count) {
    return library->suggest(dictionary, word, -1, count);
}

static inline void shim_enchant_free(const struct shim_enchant_library *library, EnchantDict *dictionary, char **list) {
    library->free_list(dictionary, list);
}

// Returns 0, or -1 if the user's word list could not be written.
static inline int shim_enchant_add(const struct shim_enchant_library *library, EnchantDict *dictionary, const char *word) {
    library->add(dictionary, word, -1);
    return library->is_added(dictionary, word, -1) ? 0 : -1;
}
