// A translation unit while it is rewritten: the file that is compiled, the user's headers it includes, and what is
// known about names over all of them. Each kind of edit stands in a file of its own and is one function over one
// source.
#pragma once

#include "rewrite/text.h"
#include "source/lexer.h"
#include "source/scope.h"

typedef struct sim_edit {
    uint32_t start, removed; // what is taken out of the text
    char *inserted;          // and what comes in its place
    int order;               // of edits at one place: as they were made
} sim_edit;

// A file, and what is to be changed in it.
typedef struct sim_file {
    sim_source source;
    sim_edit *edits;
    int edit_count, edit_room;
    bool uses_ptx; // needs sim/ptx.h
    bool changed;  // its text is not the user's any more
    bool failed;   // out of memory
} sim_file;

typedef struct sim_kernel_name {
    char *name;
    char *parameters; // of its first declaration, as types; NULL: none seen
    bool is_template, overloaded, has_defaults, returns_value;
} sim_kernel_name;

typedef struct sim_name_list {
    char **at;
    int count, room;
} sim_name_list;

typedef struct sim_unit {
    bool branches;    // are told to the runtime
    bool torch;       // what needs PyTorch is left out
    int number;       // of the unit in its build
    sim_file **files; // the first is the one that is compiled
    int file_count, file_room;
    struct sim_include *includes; // includes.c
    int include_count, include_room;
    sim_qualifiers qualifiers;
    sim_kernel_name *kernels;
    int kernel_count, kernel_room;
    sim_name_list device_functions; // those that are neither kernels nor the host's
    sim_name_list own_atomics;      // functions of the user's with the name of an atomic of CUDA's
    sim_name_list member_templates; // function templates in classes
    bool has_operators;             // for types of the user's
    bool has_subscripts;            // among them []
} sim_unit;

// --- names.c ---------------------------------------------------------------------------------------------------------
void sim_names_learn(sim_unit *unit, const sim_source *source);
// Kernels whose name a host function has too; once the names of all kernels are known.
void sim_names_learn_namesakes(sim_unit *unit, const sim_source *source);
void sim_names_free(sim_unit *unit);
const sim_kernel_name *sim_kernel_find(const sim_unit *unit, const char *name, size_t length);
bool sim_name_list_has(const sim_name_list *names, const sim_source *source, const sim_token *token);
bool sim_is_plain_atomic(const sim_unit *unit, const sim_source *source, const sim_token *token);

// --- the edits -------------------------------------------------------------------------------------------------------
void sim_edit_kernels(const sim_unit *unit, sim_file *file); // names.c
void sim_edit_launches(const sim_unit *unit, sim_file *file, const sim_tokens *tokens);
void sim_edit_atomics(const sim_unit *unit, sim_file *file, const sim_tokens *tokens);
void sim_edit_variables(const sim_unit *unit, sim_file *file);
void sim_edit_conditionals(const sim_unit *unit, sim_file *file);
void sim_edit_handled(const sim_unit *unit, sim_file *file);
void sim_edit_calls(const sim_unit *unit, sim_file *file);
void sim_edit_templates(const sim_unit *unit, sim_file *file);
void sim_edit_casts(const sim_unit *unit, sim_file *file);
void sim_edit_removed(const sim_unit *unit, sim_file *file);
void sim_edit_conversions(sim_file *file);
void sim_edit_copies(sim_file *file);
void sim_edit_fragments(sim_file *file);
void sim_edit_stores(const sim_unit *unit, sim_file *file);
void sim_edit_arithmetic(const sim_unit *unit, sim_file *file);
void sim_edit_assembly(sim_file *file, const sim_tokens *tokens);
void sim_edit_sanitizers(sim_file *file, const sim_tokens *tokens);
// Of file `index` of a unit whose branches are told. What opens brackets is inserted before the other edits are made,
// what closes them (`closing`) after.
void sim_edit_branches(const sim_unit *unit, int index, bool closing);

// --- torch.c ---------------------------------------------------------------------------------------------------------
// Puts blanks for what needs PyTorch; the files are then as if just read.
void sim_leave_out_torch(sim_unit *unit);

// --- edits.c ---------------------------------------------------------------------------------------------------------
void sim_edit_insert(sim_file *file, uint32_t at, const char *inserted);
// Replaces text[start, end); newlines in it are kept, after what is inserted.
void sim_edit_replace(sim_file *file, uint32_t start, uint32_t end, const char *inserted);
// The text with all edits made.
void sim_edits_apply(sim_file *file, sim_text *result);
void sim_edits_free(sim_file *file);
