// A module is a shared object that brings a device: libheddle-cuda.so and libheddle-sim.so, made of the same CUDA
// sources by nvcc and by the simulator's compiler. It is loaded when its device is first opened. It calls nothing of
// the library but what it is given, so that one build of it serves the command and libheddle alike.
#pragma once

#include "device/backend.h"
#include "heddle/op.h"

#ifdef __cplusplus
extern "C" {
#endif

// Changes with anything in this header, in backend.h or in heddle_call: an older module is refused.
enum { HEDDLE_MODULE_VERSION = 7 };

// What the library gives.
typedef struct heddle_module_host {
    int version;
    heddle_status (*fail)(heddle_status status, const char *format, ...) HEDDLE_PRINTF(2, 3);
} heddle_module_host;

// What the module gives. The rungs' names are those of the operators' own tables.
typedef struct heddle_module {
    int version;
    const heddle_backend *backend;
} heddle_module;

#define HEDDLE_MODULE_ENTRY "heddle_module_start"
typedef const heddle_module *heddle_module_entry(const heddle_module_host *host);

// Finds the shared object `file` of this heddle; false: not found.
bool heddle_module_find(const char *file, char *path, size_t size);
// Loads the module of a device, once. HEDDLE_MISSING says what is not there and what to do.
heddle_status heddle_module_load(heddle_device_kind kind, const char *name, const heddle_backend **backend);
// Whether the GPU of the loaded module can run a rung: its instructions, and its blocks' shared memory. True as long as
// no module is loaded.
bool heddle_module_can_run(heddle_device_kind kind, const heddle_rung *rung);
// Whether the module also brings that rung of an operator.
bool heddle_module_has_rung(heddle_device_kind kind, const char *op, const heddle_rung *rung);

#ifdef __cplusplus
}
#endif
