// Holds any operator of a table to what it says of itself: every rung against the float64 reference, the reference's
// gradients against finite differences. The checks return false with a message, so that the harness can be tested too.
#ifndef HEDDLE_TESTS_OPS_HARNESS_H
#define HEDDLE_TESTS_OPS_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/op.h"

enum {
    HARNESS_OPERANDS = 2 * HEDDLE_MAX_OPERANDS,
    HARNESS_RUNGS = 32, // more than any ladder has
};

// The first failure of a check, and how many comparisons were made before it.
typedef struct harness_report {
    bool passed;
    int comparisons;
    bool reached[HARNESS_RUNGS];     // rungs that could do the shape
    bool complete[HARNESS_RUNGS];    // those of which everything was asked; kept from one shape to the next, see below
    bool shown_large[HARNESS_RUNGS]; // those that a large shape has tried on the simulated GPU; kept, too
    // Forward and backward rungs that a large shape has had in a pair on the simulated GPU; kept, too.
    bool paired_large[2][HARNESS_RUNGS];
    bool telling[HARNESS_OPERANDS]; // outputs for which zeros would have failed: see harness_compare
    char message[1024];
} harness_report;

// Records a failure (the first stays) and returns false.
bool harness_fail(harness_report *report, const char *format, ...) HEDDLE_PRINTF(2, 3);

// $HEDDLE_TEST_SEED, or a fixed number. Every failure prints the seed it was found with.
uint64_t harness_seed(void);

// The operator that lists `op` among its gradients; NULL if none does.
const heddle_op *harness_forward_of(const heddle_op *op);

// --- the device under test ------------------------------------------------------------------------------------------

// $HEDDLE_TEST_DEVICE: "cpu" unless set, "sim" or "cuda".
const char *harness_device_name(void);

// Whether the rung is for that device, and whether any of the operator's is.
bool harness_runs(const heddle_rung *rung);
bool harness_has_rung(const heddle_op *op);
// Whether the rung is the operator's reference, of which comparing the values says nothing; and whether any other of
// the operator's is for that device.
bool harness_is_reference(const heddle_rung *rung);
bool harness_compares(const heddle_op *op);
// heddle_launch with operands in host memory, on the device under test; on return the outputs are there.
heddle_status harness_launch(const heddle_op *op, const heddle_rung *rung, const heddle_call *call);

// --- values: every operand of an operator, in float64 ---------------------------------------------------------------

typedef struct harness_values {
    const heddle_op *op;
    const void *shape;
    double *operand[HARNESS_OPERANDS];
    size_t elements[HARNESS_OPERANDS];
    bool absent[HARNESS_OPERANDS]; // optional operands that this call leaves out
} harness_values;

void harness_values_create(harness_values *values, const heddle_op *op, const void *shape);
void harness_values_copy(harness_values *to, const harness_values *from); // creates `to`
void harness_values_destroy(harness_values *values);
// Inputs and updates, drawn from the seed and the operand's name: operands of one name agree between operators.
void harness_values_draw(harness_values *values, uint64_t seed);
// Copies the inputs of `to` that `from` has under the same name.
void harness_values_take(harness_values *to, const harness_values *from);
// Draws all inputs of `op`; those that a forward operator saves come from its reference.
void harness_values_prepare(harness_values *values, const heddle_op *forward, uint64_t seed);
// Rounds inputs and updates to what their dtype can hold.
void harness_values_round(harness_values *values);
void harness_values_reference(harness_values *values);
double *harness_values_find(const harness_values *values, const char *name); // NULL if there is none

// --- memory: a call's operands as the rung sees them, between guards -----------------------------------------------

typedef struct harness_memory {
    const heddle_op *op;
    const void *shape;
    unsigned char *block[HARNESS_OPERANDS + 1]; // the last is the workspace
    size_t bytes[HARNESS_OPERANDS + 1];
    size_t offset; // from an aligned address, in elements
    heddle_call call;
} harness_memory;

// Inputs and updates from `values`; outputs and workspace poisoned. `offset` elements away from alignment.
void harness_memory_create(harness_memory *memory, const harness_values *values, const heddle_rung *rung, int threads,
                           size_t offset);
void harness_memory_destroy(harness_memory *memory);
const void *harness_memory_data(const harness_memory *memory, int operand);
// An operand as doubles.
void harness_memory_read(const harness_memory *memory, int operand, double *values);
// Guards untouched and inputs unchanged.
bool harness_memory_intact(const harness_memory *memory, const harness_values *values, harness_report *report);
bool harness_memory_same_outputs(const harness_memory *a, const harness_memory *b, const char *what,
                                 harness_report *report);

// --- comparing ------------------------------------------------------------------------------------------------------

// How far an element of an operand may be off: bound[i] for element i, in the arithmetic that was last asked for. For
// operators of HEDDLE_NORM bound[0] is that of the operand as a whole, by its norm.
typedef struct harness_bounds {
    double *bound[HARNESS_OPERANDS];
    const harness_values *expected;
    int64_t reduction;
    heddle_arithmetic arithmetic;
    int sum_bits; // likewise
} harness_bounds;

// Bounds for outputs of the reference `expected`, from dtype, reduction length, size, and how strongly they depend on
// their inputs (`prepared` are the values before the reference ran). Full arithmetic; `expected` stays the caller's,
// and as it is.
void harness_bounds_create(harness_bounds *bounds, const harness_values *prepared, const harness_values *expected,
                           int64_t reduction);
int64_t harness_reduction(const heddle_op *op, const void *shape);
void harness_bounds_destroy(harness_bounds *bounds);
// Makes them those of a rung with this arithmetic, and with sums of so many bits (0: float32's).
void harness_bounds_for(harness_bounds *bounds, heddle_arithmetic arithmetic, int sum_bits);
// Every element within its bound (equal, where nothing is computed), none NaN. Where everything expected is below its
// bound, which takes sums that cancel, zeros would pass: then the operand is not marked telling in the report.
bool harness_compare(const heddle_op *op, int operand, const double *got, const double *expected, const double *bound,
                     size_t elements, const char *what, harness_report *report);

// --- checks ---------------------------------------------------------------------------------------------------------

// Every rung for the device under test that can do the shape: values, guards, poison, optional operands left out,
// threads, alignment, a stream, and for a forward operator what its reference gradients make of what it saved.
// `forward` is NULL or the operator whose gradient this is. Of a rung that is the reference itself, everything but the
// values. The simulated GPU takes long for large shapes, so there it
// runs a rung once: that it gives the same bits again and does without optional operands is left to smaller shapes,
// once the report says that there was one, and that it runs off alignment to these and to the first large shape.
bool harness_check_ladder(const heddle_op *op, const heddle_op *forward, const char *shape_text, uint64_t seed,
                          harness_report *report);
// Every forward rung, each followed by every backward rung on what it left, against the two references. For large
// shapes on the simulated GPU not every pair, but every rung.
bool harness_check_pairs(const heddle_op *forward, const heddle_op *backward, const char *shape_text, uint64_t seed,
                         harness_report *report);
// Whether `op` reads anything that a forward operator saved: without it there is nothing to check in pairs.
bool harness_reads_saved(const heddle_op *op);
// The reference gradients of `op` against central differences of its reference.
bool harness_check_gradients(const heddle_op *op, const char *shape_text, uint64_t seed, harness_report *report);

#endif
