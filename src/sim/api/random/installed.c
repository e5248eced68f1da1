// Loads cuRAND's library once, from where CUDA toolkits are installed.
#include "api/random/installed.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sim_curand_library library;
static bool complete;

// A toolkit that the user names is the only one that is looked at.
static void *load(void)
{
    static const char *const usual[] = {"/usr/local/cuda", "/opt/cuda", NULL};
    const char *path = getenv("CUDA_PATH"), *home = getenv("CUDA_HOME");
    const char *const named[] = {path ? path : home, NULL};
    void *found = NULL;
    for (const char *const *toolkit = named[0] ? named : usual; *toolkit && !found; toolkit++) {
        char file[4096];
        snprintf(file, sizeof file, "%s/lib64/libcurand.so", *toolkit);
        // Its calls of its own functions must not come here, where they have the same names.
        found = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    }
    return found;
}

static void find_all(void)
{
    static const struct {
        const char *name;
        size_t at;
    } functions[] = {
#define FUNCTION(name) {"curand" #name, offsetof(sim_curand_library, name)}
        FUNCTION(CreateGeneratorHost),
        FUNCTION(DestroyGenerator),
        FUNCTION(SetPseudoRandomGeneratorSeed),
        FUNCTION(SetGeneratorOffset),
        FUNCTION(SetQuasiRandomGeneratorDimensions),
        FUNCTION(Generate),
        FUNCTION(GenerateLongLong),
        FUNCTION(GenerateUniform),
        FUNCTION(GenerateUniformDouble),
        FUNCTION(GenerateNormal),
        FUNCTION(GenerateNormalDouble),
        FUNCTION(GenerateLogNormal),
        FUNCTION(GenerateLogNormalDouble),
        FUNCTION(GeneratePoisson),
        FUNCTION(GetDirectionVectors32),
        FUNCTION(GetDirectionVectors64),
        FUNCTION(GetScrambleConstants32),
        FUNCTION(GetScrambleConstants64),
#undef FUNCTION
    };
    void *loaded = load();
    complete = loaded != NULL;
    for (size_t i = 0; i < sizeof functions / sizeof *functions && complete; i++) {
        void *function = dlsym(loaded, functions[i].name);
        memcpy((char *)&library + functions[i].at, &function, sizeof function);
        complete = function != NULL;
    }
}

const sim_curand_library *sim_curand_installed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_all);
    return complete ? &library : NULL;
}
