// Runs a fuzz target without libFuzzer: every file of a folder as it is, then many times changed a little, always in
// the same way. Finds less than libFuzzer, but runs with any compiler.
//
//     replay FOLDER RUNS

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "heddle/random.h"

enum {
    MOST_FILES = 256,
    MOST_BYTES = 64 * 1024,
    MOST_CHANGES = 6, // to one input
};

typedef struct input {
    uint8_t bytes[MOST_BYTES];
    size_t size;
} input;

static input seeds[MOST_FILES];
static int seed_count;

static void run(const input *tried)
{
    // A copy of just this size, so that a sanitizer sees a read past its end.
    uint8_t *copy = malloc(tried->size ? tried->size : 1);
    if (!copy)
        return;
    memcpy(copy, tried->bytes, tried->size);
    LLVMFuzzerTestOneInput(copy, tried->size);
    free(copy);
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static int read_seeds(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *file = entries[i]->d_name[0] != '.' && seed_count < MOST_FILES ? fopen(path, "rb") : NULL;
        free(entries[i]);
        if (!file)
            continue;
        seeds[seed_count].size = fread(seeds[seed_count].bytes, 1, MOST_BYTES, file);
        seed_count++;
        fclose(file);
    }
    if (count >= 0)
        free(entries);
    return seed_count;
}

// Numbers that are at the edge of something.
static uint64_t edge(heddle_random *random)
{
    static const uint64_t edges[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    return edges[heddle_random_below(random, sizeof edges / sizeof *edges)];
}

static void overwrite(heddle_random *random, input *tried, size_t at)
{
    uint64_t value = edge(random);
    size_t width = (size_t)1 << heddle_random_below(random, 4);
    bool big_endian = heddle_random_below(random, 2) != 0;
    for (size_t i = 0; i < width && at + i < tried->size; i++)
        tried->bytes[at + i] = (uint8_t)(value >> (8 * (big_endian ? width - 1 - i : i)));
}

static void cut_out(heddle_random *random, input *tried, size_t at)
{
    size_t length = 1 + heddle_random_below(random, (uint32_t)(tried->size - at));
    memmove(tried->bytes + at, tried->bytes + at + length, tried->size - at - length);
    tried->size -= length;
}

static void put_in(heddle_random *random, input *tried, size_t at)
{
    const input *other = &seeds[heddle_random_below(random, (uint32_t)seed_count)];
    if (other->size == 0)
        return;
    size_t from = heddle_random_below(random, (uint32_t)other->size);
    size_t length = 1 + heddle_random_below(random, (uint32_t)(other->size - from));
    if (length > MOST_BYTES - tried->size)
        return;
    memmove(tried->bytes + at + length, tried->bytes + at, tried->size - at);
    memcpy(tried->bytes + at, other->bytes + from, length);
    tried->size += length;
}

static void change(heddle_random *random, input *tried)
{
    if (tried->size == 0)
        return;
    size_t at = heddle_random_below(random, (uint32_t)tried->size);
    switch (heddle_random_below(random, 6)) {
    case 0: tried->bytes[at] ^= (uint8_t)(1u << heddle_random_below(random, 8)); break;
    case 1: tried->bytes[at] = (uint8_t)heddle_random_u32(random); break;
    case 2: overwrite(random, tried, at); break;
    case 3: cut_out(random, tried, at); break;
    case 4: put_in(random, tried, at); break;
    default: tried->size = at; break;
    }
}

int main(int argc, char **argv)
{
    if (argc != 3 || read_seeds(argv[1]) == 0) {
        fprintf(stderr, "usage: replay FOLDER RUNS, with at least one file in FOLDER\n");
        return 2;
    }
    static input tried;
    for (int i = 0; i < seed_count; i++)
        run(&seeds[i]);
    int runs = atoi(argv[2]);
    for (int i = 0; i < runs; i++) {
        heddle_random random = heddle_random_make(1, (uint64_t)i);
        tried = seeds[heddle_random_below(&random, (uint32_t)seed_count)];
        int changes = 1 + (int)heddle_random_below(&random, MOST_CHANGES);
        for (int c = 0; c < changes; c++)
            change(&random, &tried);
        run(&tried);
    }
    printf("%d files and %d changes of them\n", seed_count, runs);
    return 0;
}
