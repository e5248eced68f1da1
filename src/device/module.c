// Finding and loading modules: beside the program or library, then where they are installed, or where HEDDLE_MODULES
// says.

#include "device/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/place.h"

enum { PATH_SIZE = 4096, KINDS = HEDDLE_SIM + 1 };

static const heddle_module_host host = {HEDDLE_MODULE_VERSION, heddle_fail};
static const heddle_module *loaded[KINDS];
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

bool heddle_module_find(const char *file, char *path, size_t size)
{
    // Of the command or library: where both are built, then from the library and from the command when installed, then
    // from a test.
    static const char *const beside[] = {"", "/heddle", "/" HEDDLE_MODULES_FROM_PROGRAM, "/.."};
    const char *named = getenv("HEDDLE_MODULES");
    if (named) {
        snprintf(path, size, "%s/%s", named, file);
        return access(path, R_OK) == 0;
    }
    char folder[HEDDLE_PLACE_SIZE];
    heddle_own_folder(folder);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, size, "%s%s/%s", folder, beside[i], file);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

// Whether this code is part of the command, the library or a test in a build folder, and not installed.
static bool is_in_build_folder(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/CMakeCache.txt", folder);
    if (access(path, F_OK) == 0)
        return true;
    snprintf(path, sizeof path, "%s/../CMakeCache.txt", folder);
    return access(path, F_OK) == 0;
}

static heddle_status missing(heddle_device_kind kind, const char *name, const char *file)
{
    const char *named = getenv("HEDDLE_MODULES");
    if (named)
        return heddle_fail(HEDDLE_MISSING, "no %s device: HEDDLE_MODULES is %s, where there is no %s", name, named,
                           file);
    char folder[HEDDLE_PLACE_SIZE];
    heddle_own_folder(folder);
    bool built_here = is_in_build_folder(folder);
    return heddle_fail(HEDDLE_MISSING, "the %s device is not %s: run `make %s%s%s", name,
                       built_here ? "built" : "installed", name, built_here ? "`" : " install` in heddle's sources",
                       kind == HEDDLE_CUDA ? " (needs the CUDA toolkit)" : "");
}

static heddle_status load(heddle_device_kind kind, const char *name, const heddle_module **module)
{
    char file[64], path[PATH_SIZE];
    snprintf(file, sizeof file, "libheddle-%s.so", name);
    if (!heddle_module_find(file, path, sizeof path))
        return missing(kind, name, file);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return heddle_fail(HEDDLE_MISSING, "device '%s': %s", name, dlerror());
    heddle_module_entry *start;
    *(void **)&start = dlsym(object, HEDDLE_MODULE_ENTRY); // ISO C has no cast from object to function
    *module = start ? start(&host) : NULL;
    if (!*module || (*module)->version != HEDDLE_MODULE_VERSION || !(*module)->backend) {
        dlclose(object);
        *module = NULL;
        return heddle_fail(HEDDLE_MISSING, "%s is not a module of this heddle: build both together", path);
    }
    return HEDDLE_OK; // cppcheck-suppress resourceLeak ; it stays loaded
}

heddle_status heddle_module_load(heddle_device_kind kind, const char *name, const heddle_backend **backend)
{
    *backend = NULL;
    pthread_mutex_lock(&loading);
    heddle_status status = loaded[kind] ? HEDDLE_OK : load(kind, name, &loaded[kind]);
    if (status == HEDDLE_OK)
        *backend = loaded[kind]->backend;
    pthread_mutex_unlock(&loading);
    return status;
}

// Code for sm_90a, Hopper's own instructions, runs on no later card; other code runs on all of them.
static bool has_instructions(int card, int capability)
{
    enum { HOPPER = 90 };
    return capability == HOPPER ? card / 10 == HOPPER / 10 : card >= capability;
}

// NULL: none is loaded.
static const heddle_backend *loaded_backend(heddle_device_kind kind)
{
    pthread_mutex_lock(&loading);
    const heddle_backend *backend = loaded[kind] ? loaded[kind]->backend : NULL;
    pthread_mutex_unlock(&loading);
    return backend;
}

bool heddle_module_can_run(heddle_device_kind kind, const heddle_rung *rung)
{
    const heddle_backend *backend = loaded_backend(kind);
    if (!backend)
        return true;
    return (!backend->capability || has_instructions(backend->capability(), rung->capability)) &&
           (!backend->shared_bytes || rung->shared_bytes <= backend->shared_bytes());
}

bool heddle_module_has_rung(heddle_device_kind kind, const char *op, const heddle_rung *rung)
{
    const heddle_backend *backend = loaded_backend(kind);
    bool brought = !backend || !backend->launcher || backend->launcher(op, rung->name);
    return brought && heddle_module_can_run(kind, rung);
}
