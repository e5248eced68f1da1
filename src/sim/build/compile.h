// One source file on its way to an object file.
#pragma once

#include <pthread.h>

#include "build/build.h"
#include "build/compiler.h"
#include "build/home.h"
#include "build/keeper.h"
#include "build/object.h"
#include "build/precompiled.h"
#include "build/temporary.h"
#include "rewrite/text.h"

typedef enum sim_language { SIM_LANGUAGE_CUDA, SIM_LANGUAGE_CPLUSPLUS, SIM_LANGUAGE_C, SIM_LANGUAGE_NONE } sim_language;

// What all files of a build share.
typedef struct sim_build_context {
    const sim_build_options *options;
    sim_home home;
    sim_compiler compiler;
    sim_temporary temporary;
    sim_limits limits;
    sim_arguments flags; // how code is generated
    // What includes the stand-in header, by sim_standin_kind; made by the first file that needs it.
    struct sim_standin {
        sim_arguments arguments;
        char path[4096];
        bool made, precompiled;
    } standin[SIM_STANDIN_KINDS];
    pthread_mutex_t lock; // of standin
} sim_build_context;

typedef struct sim_job {
    const char *path;
    int number;
    sim_language language; // NONE: for the linker, as it is
    char object[4096];
    sim_names device_functions; // that its source defines or declares
    sim_text depends;           // names of the files it was made of, as make reads them
    unsigned lenient;           // SIM_LENIENT_*, see lenient.h
    sim_build_result result;
    sim_build_status status;
} sim_job;

void sim_compile(sim_build_context *context, sim_job *job);
