// gumbo, the HTML5 parser, for Swift: the default options are a global that the importer takes for mutable state.
#pragma once

#include <gumbo.h>
#include <stddef.h>
#include <stdlib.h>

// The memory of one tree, in blocks that are freed together: gumbo makes several small allocations per element, and
// freeing them one by one takes as long as parsing.
struct shim_gumbo_memory {
    struct shim_gumbo_block *newest;
    char *next, *end, *last;
    size_t block_size;
};

struct shim_gumbo_block {
    struct shim_gumbo_block *previous;
    max_align_t data[];
};

static inline void *shim_gumbo_allocate(void *userdata, size_t size) {
    struct shim_gumbo_memory *memory = (struct shim_gumbo_memory *)userdata;
    const size_t alignment = sizeof(max_align_t);
    if (size > (size_t)-1 / 2) return NULL;
    // An empty allocation has an address of its own, too: another one at that address would be reused with it.
    if (!size) size = 1;
    size = (size + alignment - 1) / alignment * alignment;
    if ((size_t)(memory->end - memory->next) < size) {
        if (memory->block_size < 1 << 20) memory->block_size *= 2;
        size_t capacity = size > memory->block_size ? size : memory->block_size;
        struct shim_gumbo_block *block = malloc(sizeof *block + capacity);
        if (!block) return NULL;
        block->previous = memory->newest;
        memory->newest = block;
        memory->next = (char *)block->data;
        memory->end = memory->next + capacity;
    }
    memory->last = memory->next;
    memory->next += size;
    return memory->last;
}

// Only the newest allocation can be reused, such as a tag's name while the tag is read.
static inline void shim_gumbo_deallocate(void *userdata, void *pointer) {
    struct shim_gumbo_memory *memory = (struct shim_gumbo_memory *)userdata;
    if (!pointer || pointer != memory->last) return;
    memory->next = memory->last;
    memory->last = NULL;
}

// Parses what may stand in a <body>. Text goes in whole: data must live as long as the output, which is valid until
// shim_gumbo_free(memory).
static inline GumboOutput *shim_gumbo_parse(struct shim_gumbo_memory *memory, const char *data, size_t length) {
    *memory = (struct shim_gumbo_memory){.block_size = 4096};
    GumboOptions options = kGumboDefaultOptions;
    options.allocator = shim_gumbo_allocate;
    options.deallocator = shim_gumbo_deallocate;
    options.userdata = memory;
    options.fragment_context = GUMBO_TAG_BODY;
    options.max_errors = 0;
    return gumbo_parse_with_options(&options, data, length);
}

static inline void shim_gumbo_free(struct shim_gumbo_memory *memory) {
    while (memory->newest) {
        struct shim_gumbo_block *block = memory->newest;
        memory->newest = block->previous;
        free(block);
    }
}
