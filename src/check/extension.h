// A kernel of a file without a main, launched on tensors that a line describes: how most kernels of PyTorch extensions
// are checked. heddle writes the main around it. Host code that needs PyTorch is not compiled, and a note names it.
#pragma once

#include <stdio.h>

#include "check/check.h"
#include "check/extension_arguments.h"
#include "check/extension_kernels.h"
#include "check/folder.h"

typedef struct heddle_check_extension {
    const heddle_check_options *options;
    heddle_check_globals globals;
    const heddle_check_global *kernel; // NULL: a driver of the user's launches it
    char instance[512];                // "ops::softmax<float, 256>"
    heddle_check_arguments given;
    heddle_check_argument *arguments[HEDDLE_CHECK_MOST_PARAMETERS]; // in the order of the parameters
    int count;                                                      // of them; parameters behind have defaults
    int64_t grid[3], block[3], shared;
    char *driver;         // absolute; NULL: heddle writes it
    char *script;         // the Python file of --reference, absolute; NULL: none
    const char *function; // in it
    bool has_reference;   // of any kind
} heddle_check_extension;

// Reads the kernels and the line. HEDDLE_INVALID: one line says what is wrong and lists the kernels or parameters.
heddle_status heddle_check_extension_prepare(heddle_check_extension *extension, const heddle_check_options *options,
                                             const char *const *sources);
void heddle_check_extension_free(heddle_check_extension *extension);

// Writes the inputs and the program around the files; *driver is its path.
heddle_status heddle_check_extension_write(const heddle_check_extension *extension, const char *const *sources,
                                           const heddle_check_folder *folder, char *driver, size_t size);
// Says what was launched and what was not run.
heddle_status heddle_check_extension_notes(const heddle_check_extension *extension, heddle_check_result *result);

// extension_list.c: every kernel with its parameters and a command line to edit, for people.
heddle_status heddle_check_extension_list(const char *const *sources, const char *const *folders, const char *command,
                                          FILE *file);
// One command line that checks a kernel of the files, to be edited. `folders`: those of -I, NULL: none. Returns `text`.
const char *heddle_check_extension_suggest(const heddle_check_global *kernel, const char *source,
                                           const char *const *folders, const char *command, char *text, size_t size);
// Why no such line can be made: a type that only the reader knows, or a structure; NULL: one can. Else returns `text`.
const char *heddle_check_extension_unmade(const heddle_check_global *kernel, char *text, size_t size);
// For files without a main that were named without --kernel: HEDDLE_INVALID and a whole message where they are an
// extension of PyTorch's; otherwise a hint for the message, "" where they define no kernel.
heddle_status heddle_check_extension_hint(const char *const *sources, const char *const *folders, const char *path,
                                          char *hint, size_t size);

// extension_driver.c: the text of the program.
void heddle_check_extension_print(const heddle_check_extension *extension, const char *const *sources,
                                  const char *folder, FILE *file);

// extension_values.c: the values of a tensor before the launch, as its bytes, to be freed.
heddle_status heddle_check_extension_values(const heddle_check_argument *argument, void **bytes);

// extension_compare.c: what the first run left in the folder against what it should be.
// `kept`: the folder with the results of a reference.
heddle_status heddle_check_extension_compare(const heddle_check_extension *extension, const heddle_check_folder *kept,
                                             const heddle_check_folder *folder, heddle_check_result *result);
// What heddle's main copies and no kernel has written is said in the words of an output; after its lines were hidden.
void heddle_check_extension_reword(const heddle_check_extension *extension, heddle_check_report *report);
// The path of one of a tensor's files in the folder: "in", "out", "by" (who wrote it), "expected". Returns `path`.
const char *heddle_check_extension_path(const heddle_check_folder *folder, int number, const char *kind, char *path,
                                        size_t size);
// "float32[64, 1024]"; returns `text`.
const char *heddle_check_argument_text(const heddle_check_argument *argument, char *text, size_t size);
