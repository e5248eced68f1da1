// The kernels that a file and its headers define, read from the source: names, template parameters, parameters, and how
// the file itself launches them.
#pragma once

#include "base/arena.h"
#include "check/sources.h"
#include "heddle/status.h"

enum { HEDDLE_CHECK_MOST_PARAMETERS = 48, HEDDLE_CHECK_MOST_KERNELS = 256 };

typedef enum heddle_check_parameter_kind {
    HEDDLE_CHECK_BY_VALUE, // a number, or a type that only the compiler knows
    HEDDLE_CHECK_POINTER,
    HEDDLE_CHECK_ACCESSOR, // PackedTensorAccessor32 and its kin
} heddle_check_parameter_kind;

typedef struct heddle_check_parameter {
    const char *type, *name; // "const scalar_t *__restrict__", "x"; an unnamed one is called "argument3"
    heddle_check_parameter_kind kind;
    bool has_default;
    bool is_const;  // what it points to cannot be written
    int dimensions; // of an accessor; 0: not known
} heddle_check_parameter;

typedef struct heddle_check_global {
    const char *name;      // "row_softmax"
    const char *qualified; // "ops::row_softmax"
    const char *file;
    int line;
    const char *templates; // "typename scalar_t, int BLOCK"; "": it is not a template
    int template_count, template_required;
    const char *template_names[HEDDLE_CHECK_MOST_PARAMETERS];
    bool template_is_type[HEDDLE_CHECK_MOST_PARAMETERS];
    heddle_check_parameter parameters[HEDDLE_CHECK_MOST_PARAMETERS];
    int count;
    // Of its first launch in these files; "": there is none.
    const char *launch_templates, *grid, *block, *shared;
} heddle_check_global;

typedef struct heddle_check_globals {
    heddle_arena *arena;
    heddle_check_global *at[HEDDLE_CHECK_MOST_KERNELS];
    int count;
    bool uses_torch;      // a file includes a header of PyTorch's
    const char *left_out; // functions that need PyTorch: "softmax (a.cu:40), PYBIND11_MODULE (a.cu:61)"; "": none
} heddle_check_globals;

// Of the files at `paths` (the list ends with NULL) and of what they include, beside them or in `folders`.
heddle_status heddle_check_globals_read(const char *const *paths, const char *const *folders,
                                        heddle_check_globals *globals);
void heddle_check_globals_free(heddle_check_globals *globals);

// "row_softmax<typename scalar_t, int BLOCK>(const scalar_t *x, scalar_t *y, int n)"; returns `text`.
const char *heddle_check_global_text(const heddle_check_global *kernel, char *text, size_t size);
// All of their names and parameters, in one line.
const char *heddle_check_globals_text(const heddle_check_globals *globals, char *text, size_t size);
