// NVIDIA's driver as far as lost.c has to do with it, for machines without one: libcuda.so.1 of played_runtime.c.
// Whoever asks cuGetProcAddress for itself gets another one than dlsym finds, as with the real driver.

#include <stdint.h>
#include <string.h>

#define DRIVER_CALL __attribute__((visibility("default")))

DRIVER_CALL int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, void *status);

static int synchronise(void *stream)
{
    return stream ? 0 : 1;
}

static int count_devices(int *count)
{
    *count = 7;
    return 0;
}

static int find(const char *name, void **found, int version, uint64_t flags, void *status)
{
    (void)version, (void)flags, (void)status;
    int (*wait)(void *) = synchronise, (*count)(int *) = count_devices;
    *found = strcmp(name, "cuStreamSynchronize") == 0 ? *(void **)&wait
             : strcmp(name, "cuDeviceGetCount") == 0  ? *(void **)&count
                                                      : NULL;
    return *found ? 0 : 500; // CUDA_ERROR_NOT_FOUND
}

int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, void *status)
{
    int (*other)(const char *, void **, int, uint64_t, void *) = find;
    if (strcmp(name, "cuGetProcAddress") != 0)
        return find(name, found, version, flags, status);
    *found = *(void **)&other;
    return 0;
}
