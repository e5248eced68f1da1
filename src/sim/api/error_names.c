// The names of the runtime's error codes and a short description of each.
#include <stddef.h>

#include "api/call.h"
#include "sim/runtime_api.h"

typedef struct description {
    cudaError_t error;
    const char *name, *text;
} description;

static const description descriptions[] = {
#define SIM_RUNTIME_ERROR(name, number, text) {name, #name, text},
#include "sim/errors.inc"
};

static const description *find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof descriptions / sizeof descriptions[0]; i++) {
        if (descriptions[i].error == error)
            return &descriptions[i];
    }
    return NULL;
}

const char *sim_error_name(cudaError_t error)
{
    const description *found = find(error);
    return found != NULL ? found->name : "unrecognized error code";
}

const char *sim_error_text(cudaError_t error)
{
    const description *found = find(error);
    return found != NULL ? found->text : "unrecognized error code";
}
