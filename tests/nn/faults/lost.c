// A card that is lost, as the CUDA runtime sees it: from then on every call of the driver that has to do with the card
// answers that there is none to be had. A part of fault.c's library. The runtime asks dlsym for the driver's
// cuGetProcAddress, and that for all the rest; both are stepped between here, where HEDDLE_FAULT is "lost".

#include "lost.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { UNAVAILABLE = 46 }; // CUDA_ERROR_DEVICE_UNAVAILABLE

static atomic_bool lost;

// --- functions that the driver has, stepped between ------------------------------------------------------------------

// Any of the driver's functions: none has more arguments than this, and none that is not an integer or a pointer. Those
// that are too many nobody reads.
typedef long word;
typedef int function(word, word, word, word, word, word, word, word, word, word, word, word);

enum { PLACES = 64 };
static function *behind[PLACES];

static int ask(int place, word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,
               word l)
{
    return atomic_load(&lost) ? UNAVAILABLE : behind[place](a, b, c, d, e, f, g, h, i, j, k, l);
}

// Numbered by two octal digits.
#define PLACE(n)                                                                                                       \
    static int place_##n(word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,       \
                         word l)                                                                                       \
    {                                                                                                                  \
        return ask(0##n, a, b, c, d, e, f, g, h, i, j, k, l);                                                          \
    }
#define OF_EIGHT(each, n) each(n##0) each(n##1) each(n##2) each(n##3) each(n##4) each(n##5) each(n##6) each(n##7)
#define OF_ALL(each)                                                                                                   \
    OF_EIGHT(each, 0)                                                                                                  \
    OF_EIGHT(each, 1)                                                                                                  \
    OF_EIGHT(each, 2)                                                                                                  \
    OF_EIGHT(each, 3) OF_EIGHT(each, 4) OF_EIGHT(each, 5) OF_EIGHT(each, 6) OF_EIGHT(each, 7)
OF_ALL(PLACE)
#define NAME(n) place_##n,
static function *const before[] = {OF_ALL(NAME)};

// What a training run has of a card once it runs.
static const char *const asked[] = {
    "cuCtxSynchronize", "cuEventElapsedTime", "cuEventQuery",      "cuEventRecord",       "cuEventSynchronize",
    "cuGraphLaunch",    "cuLaunchKernel",     "cuLaunchKernelEx",  "cuMemAlloc",          "cuMemFree",
    "cuMemGetInfo",     "cuMemcpyAsync",      "cuMemcpyDtoDAsync", "cuMemcpyDtoHAsync",   "cuMemcpyHtoDAsync",
    "cuMemsetD8Async",  "cuStreamQuery",      "cuStreamWaitEvent", "cuStreamSynchronize",
};

// The place of a function of the driver, of which each has one: of a name there may be several versions, and the same
// one is asked for by every copy of the runtime in a program.
static int place_of(void *found)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static int used;
    int place = 0;
    pthread_mutex_lock(&mutex);
    while (place < used && *(void **)&behind[place] != found)
        place++;
    if (place == used && used < PLACES)
        *(void **)&behind[used++] = found;
    pthread_mutex_unlock(&mutex);
    if (place < PLACES)
        return place;
    fprintf(stderr, "gpu_fault: more than %d functions of the driver to step between\n", PLACES);
    _exit(70);
}

static void step_between(const char *name, void **found)
{
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
        if (strcmp(name, asked[i]) == 0)
            *found = *(void *const *)&before[place_of(*found)];
}

// --- how the runtime finds them --------------------------------------------------------------------------------------

typedef int find(const char *name, void **found, int version, uint64_t flags, void *status);
static find *first_find, *second_find; // cuGetProcAddress; its second version has one argument more

static int step_behind_second(const char *name, void **found, int version, uint64_t flags, void *status);

// What was found for `name`; cuGetProcAddress itself is asked for by that name, too, and answers from then on.
static int step_behind(int result, const char *name, void **found)
{
    find *second = step_behind_second;
    if (result != 0 || !found || !*found)
        return result;
    if (strcmp(name, "cuGetProcAddress") != 0) {
        step_between(name, found);
    } else if (*found != *(void **)&second) {
        *(void **)&second_find = *found;
        *found = *(void **)&second;
    }
    return result;
}

static int step_behind_first(const char *name, void **found, int version, uint64_t flags, void *status)
{
    return step_behind(first_find(name, found, version, flags, status), name, found);
}

static int step_behind_second(const char *name, void **found, int version, uint64_t flags, void *status)
{
    return step_behind(second_find(name, found, version, flags, status), name, found);
}

static bool is_wanted(void)
{
    const char *kind = getenv("HEDDLE_FAULT");
    return kind && strcmp(kind, "lost") == 0;
}

typedef void *look_up(void *library, const char *name);
static look_up *real(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    static look_up *found;
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++)
        *(void **)&found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (!found) {
        fprintf(stderr, "gpu_fault: the C library's dlsym is not found\n");
        _exit(70);
    }
    return found;
}

__attribute__((visibility("default"))) void *dlsym(void *library, const char *name)
{
    void *found = real()(library, name);
    if (!found || !is_wanted())
        return found;
    find *first = step_behind_first, *second = step_behind_second;
    if (strcmp(name, "cuGetProcAddress") == 0) {
        *(void **)&first_find = found;
        return *(void **)&first;
    }
    if (strcmp(name, "cuGetProcAddress_v2") == 0) {
        *(void **)&second_find = found;
        return *(void **)&second;
    }
    return found;
}

void gpu_lose(void)
{
    if (!behind[0]) {
        fprintf(stderr, "gpu_fault: nobody has asked the driver for a function that could be stepped between\n");
        _exit(70);
    }
    atomic_store(&lost, true);
}
