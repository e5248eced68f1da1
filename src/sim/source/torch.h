// The parts of a PyTorch extension that need PyTorch: host functions, bindings and declarations that name its types.
// Kernels and device functions never belong to them. Files of one program share the names: what calls a function that
// needs PyTorch needs it, too.
#pragma once

#include "source/scope.h"

typedef struct sim_torch_part {
    int first, last; // tokens of source->code, both included
    char *name;      // "softmax_forward", "PYBIND11_MODULE"
    bool runs;       // a function or block, not only a declaration
} sim_torch_part;

typedef struct sim_torch_parts {
    sim_torch_part *at;
    int count, room;
} sim_torch_parts;

typedef struct sim_torch_names {
    char **at;
    int count, room;
} sim_torch_names;

// Whether a header belongs to PyTorch, by its name: "torch/extension.h", "ATen/ATen.h".
bool sim_torch_is_header(const char *name);
bool sim_torch_included(const sim_source *source, const sim_directive *directive);
// Whether a file has a main: it was written to run without PyTorch, and all of it stays. Needs the scopes.
bool sim_torch_is_program(const sim_source *source);
// Whether a file includes one.
bool sim_torch_is_used(const sim_source *source);

// What PyTorch's headers define as qualifiers, C10_HOST_DEVICE and the like.
void sim_torch_qualifiers(sim_qualifiers *known);

// Names of a file that stand for something of PyTorch's, added to those that are known; true: there was a new one.
// `sources`: all files, ended with NULL, so that a type of the user's own called Tensor is told from PyTorch's.
bool sim_torch_learn(const sim_source *source, const sim_source *const *sources, sim_torch_names *names);
void sim_torch_find(const sim_source *source, const sim_torch_names *names, sim_torch_parts *parts);
void sim_torch_names_free(sim_torch_names *names);
void sim_torch_parts_free(sim_torch_parts *parts);
// Puts blanks for the parts and for the lines that include PyTorch's headers: every other line and column stays.
void sim_torch_blank(sim_source *source, const sim_torch_parts *parts);
