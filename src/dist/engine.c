// Loads the modules that carry exchanges.

#include "dist/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "device/module.h"

enum { PATH_SIZE = 4096 };

static const heddle_engine_host host = {HEDDLE_ENGINE_VERSION, heddle_fail};
static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

static struct {
    const char *name, *file, *without, *broken;
    const heddle_engine *engine;
} modules[] = {
    {"mpi", "libheddle-mpi.so", "MPI is not built in: run `make build` in heddle's sources, which needs libopenmpi-dev",
     "install openmpi-bin", NULL},
    {"nccl", "libheddle-nccl.so", "this heddle was built without NCCL; build where nccl.h and libnccl are found",
     "install NVIDIA's libnccl2", NULL},
};

static heddle_status load(int index)
{
    char path[PATH_SIZE];
    if (!heddle_module_find(modules[index].file, path, sizeof path))
        return heddle_fail(HEDDLE_MISSING, "%s", modules[index].without);
    // Open MPI's own plugins look for its functions among the global ones.
    void *object = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!object)
        return heddle_fail(HEDDLE_MISSING, "%s; %s", dlerror(), modules[index].broken);
    heddle_engine_entry *start;
    *(void **)&start = dlsym(object, HEDDLE_ENGINE_ENTRY); // ISO C has no cast from object to function
    const heddle_engine *engine = start ? start(&host) : NULL;
    if (!engine || engine->version != HEDDLE_ENGINE_VERSION) {
        dlclose(object);
        return heddle_fail(HEDDLE_MISSING, "%s is not a module of this heddle: build both together", path);
    }
    modules[index].engine = engine;
    return HEDDLE_OK; // cppcheck-suppress resourceLeak ; it stays loaded
}

heddle_status heddle_engine_load(const char *name, const heddle_engine **engine)
{
    int index = strcmp(name, modules[0].name) == 0 ? 0 : 1;
    pthread_mutex_lock(&loading);
    heddle_status status = modules[index].engine ? HEDDLE_OK : load(index);
    *engine = modules[index].engine;
    pthread_mutex_unlock(&loading);
    return status;
}
