// The rewriter: makes C++ of CUDA C++ by replacing pieces of the text. Every line stays where it was. A translation
// unit is rewritten as a whole: the user's headers that need an edit, or that include one that does, are rewritten too.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_rewrite_options {
    const char *const *folders; // where #include looks, "..." after the folder of the file itself; NULL ends it
    const char *shadow_folder;  // where rewritten headers will lie; NULL: headers are not looked at
    int number;                 // of the unit in that folder
    bool branches;              // tell the runtime of every branch of device code; the text needs sim/branches.h
    bool torch;                 // leave out what needs PyTorch; the text needs sim/torch.h
} sim_rewrite_options;

typedef struct sim_rewritten_file {
    const char *path;   // the user's
    const char *shadow; // where `text` is to be written
    char *text;         // NULL: the file stays as it is
    size_t bytes;
    bool uses_ptx; // the text needs sim/ptx.h
} sim_rewritten_file;

typedef struct sim_rewritten {
    sim_rewritten_file *files; // the first is the one that is compiled; it always has a text
    int count;
    struct sim_unit *unit;
} sim_rewritten;

// False: the file cannot be read or memory ran out; errno says which.
bool sim_rewrite_unit(const char *path, const sim_rewrite_options *options, sim_rewritten *result);
// One text alone, as the file `path`; the result is to be freed. NULL: out of memory.
char *sim_rewrite_text(const char *path, const char *text, size_t bytes, size_t *result_bytes);
void sim_rewritten_free(sim_rewritten *result);

// Whether any file of the unit has #include <name> with one of these names. NULL ends the list.
bool sim_rewritten_includes(const sim_rewritten *result, const char *const *names);

// The names of functions that are the device's alone, and how many there are.
const char *const *sim_rewritten_device_functions(const sim_rewritten *result, int *count);

// Whether device code stands on this line of one of the user's files.
bool sim_rewritten_is_device(const sim_rewritten *result, const char *path, int line);
// Whether the function that this line stands in is one that nothing in a program of this one unit ever names.
bool sim_rewritten_is_unused(const sim_rewritten *result, const char *path, int line);
// The column of the user's file where column `column` of line `line` of the rewritten one came from; all from 1.
int sim_rewritten_column(const sim_rewritten *result, const char *path, int line, int column);
