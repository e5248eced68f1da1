// NVML, loaded at the first question; and /proc/stat.

#include "device/gpus.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
    // Those that an old driver may lack.
    int (*limit)(nvml_device device, unsigned *milliwatts);
    int (*clock)(nvml_device device, int kind, unsigned *megahertz);
    int (*temperature)(nvml_device device, int kind, unsigned *celsius);
} nvml;
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, TEMPERATURE_GPU = 0 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of what follows
static enum { UNKNOWN, READY, MISSING } state;
static double asked;
static int known;
static heddle_gpu_now latest[HEDDLE_MOST_GPUS];

static void load_library(void)
{
    const struct {
        void *place;
        const char *name;
        bool needed;
    } calls[] = {
        {(void *)&nvml.start, "nvmlInit_v2", true},
        {(void *)&nvml.count, "nvmlDeviceGetCount_v2", true},
        {(void *)&nvml.find, "nvmlDeviceGetHandleByIndex_v2", true},
        {(void *)&nvml.name, "nvmlDeviceGetName", true},
        {(void *)&nvml.load, "nvmlDeviceGetUtilizationRates", true},
        {(void *)&nvml.power, "nvmlDeviceGetPowerUsage", true},
        {(void *)&nvml.memory, "nvmlDeviceGetMemoryInfo", true},
        {(void *)&nvml.limit, "nvmlDeviceGetEnforcedPowerLimit", false},
        {(void *)&nvml.clock, "nvmlDeviceGetClockInfo", false},
        {(void *)&nvml.temperature, "nvmlDeviceGetTemperature", false},
    };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    state = library ? READY : MISSING;
    for (size_t i = 0; library && i < sizeof calls / sizeof *calls; i++) {
        void *found = dlsym(library, calls[i].name);
        memcpy(calls[i].place, &found, sizeof found); // an object's address into a function's
        if (!found && calls[i].needed)
            state = MISSING;
    }
    if (state == READY && nvml.start() != 0)
        state = MISSING;
}

static void ask(unsigned index, heddle_gpu_now *gpu)
{
    nvml_device device = NULL;
    nvml_utilization load;
    nvml_memory memory;
    unsigned milliwatts, number;
    *gpu = (heddle_gpu_now){.load = NAN,
                            .watts = NAN,
                            .watts_limit = NAN,
                            .memory = NAN,
                            .used = NAN,
                            .clock = NAN,
                            .memory_clock = NAN,
                            .celsius = NAN};
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
    if (nvml.limit && nvml.limit(device, &milliwatts) == 0)
        gpu->watts_limit = milliwatts / 1000.0;
    if (nvml.clock && nvml.clock(device, CLOCK_SM, &number) == 0)
        gpu->clock = number;
    if (nvml.clock && nvml.clock(device, CLOCK_MEMORY, &number) == 0)
        gpu->memory_clock = number;
    if (nvml.temperature && nvml.temperature(device, TEMPERATURE_GPU, &number) == 0)
        gpu->celsius = number;
}

int heddle_gpus_now(heddle_gpu_now gpus[HEDDLE_MOST_GPUS])
{
    pthread_mutex_lock(&lock);
    if (state == UNKNOWN)
        load_library();
    const double now = heddle_now();
    unsigned count = 0;
    if (state == READY && (known == 0 || now - asked > fresh) && nvml.count(&count) == 0) {
        known = count < HEDDLE_MOST_GPUS ? (int)count : HEDDLE_MOST_GPUS;
        for (int i = 0; i < known; i++)
            ask((unsigned)i, &latest[i]);
        asked = now;
    }
    memcpy(gpus, latest, (size_t)known * sizeof *gpus);
    const int found = known;
    pthread_mutex_unlock(&lock);
    return found;
}

int heddle_cpu_ticks_now(heddle_cpu_ticks *ticks)
{
    // cpu, and then: user nice system idle waiting interrupts soft-interrupts stolen, and what is in these already.
    enum { IDLE = 3, WAITING = 4, FIELDS = 8, LINE = 256 };
    char line[LINE] = "";
    FILE *file = fopen("/proc/stat", "re");
    const bool read = file && fgets(line, sizeof line, file) && strncmp(line, "cpu ", 4) == 0;
    if (file)
        fclose(file);
    *ticks = (heddle_cpu_ticks){0};
    char *at = line + 4;
    for (int i = 0; read && i < FIELDS; i++) {
        const double field = strtod(at, &at);
        ticks->all += field;
        ticks->busy += i == IDLE || i == WAITING ? 0 : field;
    }
    return read;
}
