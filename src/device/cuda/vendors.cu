// The modules of vendors' libraries, libheddle-cublas.so and the like: each stands beside this module, is loaded when a
// rung is asked for that is not here, and puts its rungs on the list as it loads. One that does not load takes nothing
// else along: what was wrong is kept for `heddle doctor`.

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda/cuda.h"

enum { PATH_SIZE = 4096, WHY_SIZE = 512 };

#if defined(HEDDLE_SIM_MODULE)

void heddle_cuda_load_vendors(void)
{
}

void heddle_cuda_missing(char *text, size_t size)
{
    snprintf(text, size, "%s", "");
}

#else

static struct vendor {
    const char *name, *file, *package;
    char why[WHY_SIZE]; // it is not there; empty: it is
} vendors[] = {
    {"cuBLAS", "libheddle-cublas.so", "NVIDIA's libcublas, or the whole CUDA toolkit", ""},
    {"cuDNN", "libheddle-cudnn.so", "NVIDIA's libcudnn9", ""},
    {"CUTLASS", "libheddle-cutlass.so", "`pip install nvidia-cutlass`, or -DHEDDLE_CUTLASS=FOLDER", ""},
    {"cuFFT", "libheddle-cufft.so", "NVIDIA's libcufft, or the whole CUDA toolkit", ""},
    {"cuRAND", "libheddle-curand.so", "NVIDIA's libcurand, or the whole CUDA toolkit", ""},
};
enum { VENDORS = sizeof vendors / sizeof *vendors };

static void load_one(const char *folder, struct vendor *vendor)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, vendor->file);
    if (access(path, R_OK) != 0) {
        snprintf(vendor->why, sizeof vendor->why,
                 "%s: built without its rungs; build where its header and library are found (%s)", vendor->name,
                 vendor->package);
        return;
    }
    if (dlopen(path, RTLD_NOW | RTLD_LOCAL))
        return;
    const char *said = dlerror();
    snprintf(vendor->why, sizeof vendor->why, "%s not found: %.300s; install %s", vendor->name,
             said ? said : "no reason given", vendor->package);
}

static void load_all(void)
{
    Dl_info info;
    char folder[PATH_SIZE / 2] = ".";
    if (dladdr((const void *)&heddle_cuda_host, &info) && info.dli_fname && strchr(info.dli_fname, '/')) {
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        *strrchr(folder, '/') = '\0';
    }
    for (int i = 0; i < VENDORS; i++)
        load_one(folder, &vendors[i]);
}

void heddle_cuda_load_vendors(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_all);
}

void heddle_cuda_missing(char *text, size_t size)
{
    size_t used = 0;
    heddle_cuda_load_vendors();
    if (size > 0)
        text[0] = '\0';
    for (int i = 0; i < VENDORS; i++)
        if (vendors[i].why[0] && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? "\n" : "", vendors[i].why);
}

#endif
