// A file without a main of its own, checked as an operator of the registry: heddle writes the main, which runs the
// file's function on the operator's test shapes, and compares what comes out with the float64 reference.
//
// The file defines one function with the operator's name: device pointers to its operands (inputs, then outputs), then
// the fields of its shape, in the order of `heddle ops NAME`. Fields that have a default may be left out, all of them
// together; then it is run on the test shapes with those defaults:
//
//     void matmul(const float *a, const float *b, float *output, int m, int n, int k)
//
// Or that function is a kernel, and a comment says how it is launched (launch.h).
#pragma once

#include <stdio.h>

#include "check/folder.h"
#include "check/launch.h"
#include "check/result.h"
#include "heddle/op.h"

enum {
    HEDDLE_CHECK_MOST_CASES = 64,
    HEDDLE_CHECK_PLAIN_SIZE = 128, // bytes of a shape that names only the fields without a default
};

// Which functions are run on a shape: those with the optional fields as parameters, those without, or both.
typedef enum heddle_check_case_kind {
    HEDDLE_CHECK_USUAL,   // every optional field has its default: both
    HEDDLE_CHECK_UNUSUAL, // one has another value: with
    HEDDLE_CHECK_PLAIN,   // the defaults put back into an unusual one: without
    HEDDLE_CHECK_CASE_KINDS,
} heddle_check_case_kind;

typedef struct heddle_check_case {
    const char *text; // of the operator's list or of --shape; NULL: `plain` has it
    char plain[HEDDLE_CHECK_PLAIN_SIZE];
    heddle_check_case_kind kind;
} heddle_check_case;

typedef struct heddle_check_job {
    const heddle_op *op;
    const char *function;                  // what the file calls it: "matmul" or "matmul_forward"
    char launch[HEDDLE_CHECK_LAUNCH_SIZE]; // where it is a kernel: what stands between <<< and >>>; else ""
    uint64_t seed;
    heddle_check_case cases[HEDDLE_CHECK_MOST_CASES];
    bool given; // by --shape
    int count;
    int left_out[HEDDLE_CHECK_CASE_KINDS]; // shapes that are too much for the simulated GPU
} heddle_check_job;

// "matmul_forward", or "matmul" for the first operator of that name. HEDDLE_INVALID suggests the nearest.
heddle_status heddle_check_op_find(const char *name, const heddle_op **op);
// The operator whose name a function in one of the files has; NULL: none.
const heddle_op *heddle_check_op_suggest(const char *const *sources);

// Finds the function in the files (HEDDLE_INVALID says what it should look like) and chooses the shapes.
heddle_status heddle_check_job_prepare(heddle_check_job *job, const heddle_op *op, const char *const *sources,
                                       uint64_t seed);

// shapes.c: what is run. Of the operator's test shapes, those that the simulated GPU does in about a second.
heddle_status heddle_check_job_choose_shapes(heddle_check_job *job);
// These shapes, a list that ends with NULL and outlives the job, in the place of the operator's test shapes.
heddle_status heddle_check_job_set_shapes(heddle_check_job *job, const char *const *shapes);
// "m=1 n=7 k=31"
const char *heddle_check_job_shape(const heddle_check_job *job, int number);
// Whether a function with all fields as parameters (`complete`), or one without the optional ones, is run on such.
bool heddle_check_takes(heddle_check_case_kind kind, bool complete);

// Writes the inputs of every shape and the program around the files; *driver is its path.
heddle_status heddle_check_job_write(const heddle_check_job *job, const char *const *sources,
                                     const heddle_check_folder *folder, char *driver, size_t size);
// "void matmul(const float *a, ...)"; returns `text`.
const char *heddle_check_job_signature(const heddle_op *op, const char *function, bool complete, char *text,
                                       size_t size);
// The signature with the fields that may be left out in [ ], and what that means; returns `text`.
const char *heddle_check_job_hint(const heddle_op *op, const char *function, char *text, size_t size);
// Says of a finding that ended the run at which shape that was.
void heddle_check_job_name_shape(const heddle_check_job *job, const heddle_check_folder *folder,
                                 heddle_check_report *report);
// Compares what a run left in the folder with the reference and adds the first difference of each shape.
heddle_status heddle_check_job_compare(const heddle_check_job *job, const heddle_check_folder *folder,
                                       heddle_check_result *result);

// compare.c: the outputs of one shape, which `file` has. `writers`: who wrote each element; NULL: not known. *compared:
// all of its output was there.
heddle_status heddle_check_compare(const heddle_check_job *job, int number, FILE *file, FILE *writers,
                                   heddle_check_result *result, bool *compared);

// driver.c: the text of that program.
void heddle_check_driver_print(const heddle_check_job *job, const char *const *sources, const char *folder, FILE *file);
// The name of a type in the program: "float"; NULL: none there.
const char *heddle_check_c_type(heddle_dtype dtype);
// The fields that a shape of the job gives another value than their default: "alpha, beta". Returns how many.
int heddle_check_job_fields(const heddle_check_job *job, char *text, size_t size);
