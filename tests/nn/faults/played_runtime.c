// Finds the driver's functions as CUDA's runtime does, both ways, and ends with 0 if they say that the card is lost
// once the file that HEDDLE_FAULT_AFTER names is there: fault.c's library, loaded before, steps between. A test of that
// library for machines without a GPU.

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { UNAVAILABLE = 46, TURNS = 1000 };

typedef int find(const char *name, void **found, int version, uint64_t flags, void *status);

static int wrong(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static int (*found_by(find *by))(void *)
{
    void *found = NULL;
    int (*wait)(void *) = NULL;
    if (by("cuStreamSynchronize", &found, 2000, 0, NULL) == 0)
        *(void **)&wait = found;
    return wait;
}

int main(void)
{
    int stream = 0, devices = 0;
    const char *after = getenv("HEDDLE_FAULT_AFTER");
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *other = NULL, *count = NULL;
    find *first = NULL, *second = NULL;
    if (!after || !driver)
        return wrong("no HEDDLE_FAULT_AFTER, or no driver to play with");
    unlink(after);
    *(void **)&first = dlsym(driver, "cuGetProcAddress_v2");
    if (!first || first("cuGetProcAddress", &other, 12000, 0, NULL) != 0)
        return wrong("the driver's functions cannot be asked for");
    *(void **)&second = other;
    int (*wait_first)(void *) = found_by(first), (*wait_second)(void *) = found_by(second), (*count_devices)(int *);
    if (!wait_first || !wait_second || second("cuDeviceGetCount", &count, 2000, 0, NULL) != 0)
        return wrong("a function is not found");
    *(void **)&count_devices = count;
    if (wait_first(&stream) != 0 || wait_second(&stream) != 0 || wait_second(NULL) != 1)
        return wrong("before the fault the driver's own answers do not come through");
    FILE *file = fopen(after, "w");
    if (!file || fclose(file) != 0)
        return wrong("the file that begins the fault cannot be written");
    for (int i = 0; i < TURNS && wait_second(&stream) == 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    unlink(after);
    if (wait_first(&stream) != UNAVAILABLE || wait_second(&stream) != UNAVAILABLE)
        return wrong("the card is not lost");
    if (count_devices(&devices) != 0 || devices != 7)
        return wrong("what has nothing to do with the card's work is not the driver's any more");
    return 0;
}
