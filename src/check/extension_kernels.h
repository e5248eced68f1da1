// The kernels that a file and its headers define, read from the source: names, template parameters, parameters, and how
// the file itself launches them.
#pragma once

#include "base/arena.h"
#include "check/own.h"
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
    // What a type of the files' own stands for: "torch::PackedTensorAccessor32<scalar_t, 2>"; "": nothing is known.
    const char *alias;
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
    // Of its first launch in these files, with constants and variables of the host's code put in; "": there is none, or
    // it needs more than numbers and the kernel's parameters.
    const char *launch_templates, *grid, *block, *shared;
    bool is_launched;
    // What its body says about a launch: which indices are read, and whether a number is a side of a matrix.
    bool uses_thread_y, uses_blocks, uses_block_y, uses_block_z, has_square, has_dynamic_shared;
    const char *bounds;  // of __launch_bounds__, as written; "": none
    const char *tile[2]; // rows and columns of its first shared array with both; "": none
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
// extension_launch.c: how the files launch them, and what types of the files' own stand for.
void heddle_check_launches_read(heddle_check_globals *globals, const heddle_check_own_files *files);
// What the body, whose brace is token `open`, says about a launch.
void heddle_check_body_read(heddle_arena *arena, const sim_source *source, int open, heddle_check_global *kernel);
// Tokens [first, last) as a person writes them: const scalar_t *__restrict__ x.
const char *heddle_check_tokens_text(heddle_arena *arena, const sim_source *source, int first, int last);
// The next comma of a list, or its end; brackets and angles are passed over.
int heddle_check_item_end(const sim_source *source, int first, int last);
void heddle_check_globals_free(heddle_check_globals *globals);

// "row_softmax<typename scalar_t, int BLOCK>(const scalar_t *x, scalar_t *y, int n)"; returns `text`.
const char *heddle_check_global_text(const heddle_check_global *kernel, char *text, size_t size);
// All of their names and parameters, in one line.
const char *heddle_check_globals_text(const heddle_check_globals *globals, char *text, size_t size);
