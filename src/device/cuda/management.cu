// What only NVIDIA's management library knows of a card: the clocks it runs at now, and the driver's name for its own
// version. The library comes with the driver, is loaded when first asked and is not linked: a machine without it has
// the rest.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda/cuda.h"

#if defined(HEDDLE_SIM_MODULE)

void heddle_cuda_manage(const char *bus, heddle_cuda_management *now)
{
    (void)bus;
    memset(now, 0, sizeof *now);
}

#else

// As nvml.h has them: 0 is success of every call.
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
typedef struct nvml_device_struct *nvml_device;

static struct {
    int (*start)(void);
    int (*driver_version)(char *text, unsigned size);
    int (*find)(const char *bus, nvml_device *device);
    int (*clock)(nvml_device device, int kind, unsigned *megahertz);
    bool ready;
} nvml;

static void *find(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

static void load(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    *(void **)&nvml.start = find(library, "nvmlInit_v2");
    *(void **)&nvml.driver_version = find(library, "nvmlSystemGetDriverVersion");
    *(void **)&nvml.find = find(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.clock = find(library, "nvmlDeviceGetClockInfo");
    nvml.ready = nvml.start && nvml.driver_version && nvml.find && nvml.clock && nvml.start() == 0;
}

static double clock_of(nvml_device device, int kind)
{
    unsigned megahertz = 0;
    return nvml.clock(device, kind, &megahertz) == 0 ? megahertz : 0;
}

void heddle_cuda_manage(const char *bus, heddle_cuda_management *now)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    memset(now, 0, sizeof *now);
    if (!nvml.ready)
        return;
    if (nvml.driver_version(now->driver, sizeof now->driver) != 0)
        now->driver[0] = '\0';
    nvml_device device = NULL;
    if (nvml.find(bus, &device) != 0)
        return;
    now->clock = clock_of(device, CLOCK_SM);
    now->memory_clock = clock_of(device, CLOCK_MEMORY);
}

#endif
