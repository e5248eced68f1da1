// NVML, loaded at the first question.

#include "serve/gpus.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const double fresh = 0.5; // seconds

// As nvml.h has them: 0 is success of every call.
typedef struct nvml_device_struct *nvml_device;
typedef struct nvml_utilization {
    unsigned gpu, memory; // per cent
} nvml_utilization;
typedef struct nvml_memory {
    unsigned long long total, free, used;
} nvml_memory;

static struct {
    int (*start)(void);
    int (*count)(unsigned *count);
    int (*find)(unsigned index, nvml_device *device);
    int (*name)(nvml_device device, char *name, unsigned size);
    int (*load)(nvml_device device, nvml_utilization *load);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*memory)(nvml_device device, nvml_memory *memory);
} nvml;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of what follows
static enum { UNKNOWN, READY, MISSING } state;
static double asked;
static int known;
static heddle_serve_gpu latest[HEDDLE_SERVE_MOST_GPUS];

static void load_library(void)
{
    const struct {
        void *place;
        const char *name;
    } calls[] = {
        {(void *)&nvml.start, "nvmlInit_v2"},
        {(void *)&nvml.count, "nvmlDeviceGetCount_v2"},
        {(void *)&nvml.find, "nvmlDeviceGetHandleByIndex_v2"},
        {(void *)&nvml.name, "nvmlDeviceGetName"},
        {(void *)&nvml.load, "nvmlDeviceGetUtilizationRates"},
        {(void *)&nvml.power, "nvmlDeviceGetPowerUsage"},
        {(void *)&nvml.memory, "nvmlDeviceGetMemoryInfo"},
    };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    state = library ? READY : MISSING;
    for (size_t i = 0; library && i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(library, calls[i].name);
        memcpy(calls[i].place, &found, sizeof found); // an object's address into a function's
        if (!found)
            state = MISSING;
    }
    if (state == READY && nvml.start() != 0)
        state = MISSING;
}

static void ask(unsigned index, heddle_serve_gpu *gpu)
{
    nvml_device device = NULL;
    nvml_utilization load;
    nvml_memory memory;
    unsigned milliwatts;
    *gpu = (heddle_serve_gpu){.load = NAN, .watts = NAN, .memory = NAN, .used = NAN};
    if (nvml.find(index, &device) != 0)
        return;
    if (nvml.name(device, gpu->name, sizeof gpu->name) != 0)
        snprintf(gpu->name, sizeof gpu->name, "GPU %u", index);
    if (nvml.load(device, &load) == 0)
        gpu->load = load.gpu / 100.0;
    if (nvml.power(device, &milliwatts) == 0)
        gpu->watts = milliwatts / 1000.0;
    if (nvml.memory(device, &memory) == 0) {
        gpu->memory = (double)memory.total;
        gpu->used = (double)memory.used;
    }
}

int heddle_serve_gpus(heddle_serve_gpu gpus[HEDDLE_SERVE_MOST_GPUS])
{
    pthread_mutex_lock(&lock);
    if (state == UNKNOWN)
        load_library();
    const double now = heddle_now();
    unsigned count = 0;
    if (state == READY && (known == 0 || now - asked > fresh) && nvml.count(&count) == 0) {
        known = count < HEDDLE_SERVE_MOST_GPUS ? (int)count : HEDDLE_SERVE_MOST_GPUS;
        for (int i = 0; i < known; i++)
            ask((unsigned)i, &latest[i]);
        asked = now;
    }
    memcpy(gpus, latest, (size_t)known * sizeof *gpus);
    const int found = known;
    pthread_mutex_unlock(&lock);
    return found;
}
