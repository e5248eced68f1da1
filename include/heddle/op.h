// Operators and their ladders. An operator says what is computed, what it costs and what is right; a rung is one way to
// compute it on one device. Help, tests, benchmarks, docs and the trainer all read these tables; nothing about a rung
// is written twice.
//
// Gradients go by name. The backward operators of `matmul` (inputs `a`, `b`; output `output`) take what they need of
// `a`, `b`, `output` and `grad_output`, and give `grad_a`, `grad_b`: an operand called grad_X is the gradient of the
// forward operator's operand X. Autograd, the plan and the finite-difference tests need nothing more.
#ifndef HEDDLE_OP_H
#define HEDDLE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "heddle/device.h"
#include "heddle/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    HEDDLE_MAX_DIMS = 5,
    HEDDLE_MAX_OPERANDS = 20, // inputs, and again outputs
    HEDDLE_MAX_SHAPE_BYTES = 128,
};

// --- what an operator is --------------------------------------------------------------------------------------------

// One named number of an operator's shape struct ("m", "stride", "epsilon"), so that "m=64 n=3" can be read and
// printed.
typedef enum heddle_field_kind {
    HEDDLE_FIELD_INT,   // int
    HEDDLE_FIELD_FLOAT, // float
} heddle_field_kind;

typedef struct heddle_field {
    const char *name;
    size_t offset;
    heddle_field_kind kind;
    double initial; // used when a shape does not name it; NAN: must be named
    const char *note;
} heddle_field;

typedef enum heddle_role {
    HEDDLE_INPUT,
    HEDDLE_OUTPUT, // every element is written
    HEDDLE_UPDATE, // in output[]: read and written in place (parameters, running statistics)
} heddle_role;

// What tests and benchmarks put into an input.
typedef enum heddle_values {
    HEDDLE_VALUES_NORMAL,   // mean 0, variance 1
    HEDDLE_VALUES_POSITIVE, // uniform in [0.5, 1.5)
    HEDDLE_VALUES_LABELS,   // integers in [0, what `limit` says)
    HEDDLE_VALUES_BYTES,    // integers in [0, 256)
    HEDDLE_VALUES_SAVED,    // what the forward operator left; tests run it first to get them
    HEDDLE_VALUES_OWN,      // the operator's `fill` function sets it (hyper-parameters, random state, indices)
} heddle_values;

typedef struct heddle_operand {
    const char *name;
    heddle_role role;
    heddle_dtype dtype;
    heddle_values values;
    int (*dims)(const void *shape, int dims[HEDDLE_MAX_DIMS]); // returns the rank
    int (*limit)(const void *shape);                           // for HEDDLE_VALUES_LABELS
    bool optional;                                             // may be NULL in a call
    bool saved;   // an output that only the backward operators read: tests compare what is made of it, not it
    bool on_host; // in host memory whatever the device, best from heddle_alloc_pinned: the rung copies it itself
    bool smooth;  // for HEDDLE_NORM: no choice that a rounding may turn is behind it, so it is held to roundings alone
    bool by_row;  // an output whose rows, its last dimension, are of unlike size: each is held to its own (tolerance.h)
    heddle_dtype (*stored)(const void *shape); // its dtype, where that is neither `dtype` nor the operator's element
} heddle_operand;

typedef struct heddle_cost {
    double flops;
    double bytes_read;
    double bytes_written;
} heddle_cost;

typedef struct heddle_op heddle_op;
typedef struct heddle_rung heddle_rung;
typedef struct heddle_pool heddle_pool;

// Everything a launcher needs. Inputs and outputs stand in the order of the operator's operands of that role. No
// operand overlaps another (but add_forward may write over one of its inputs, as sums of gradients do).
typedef struct heddle_call {
    const void *shape;
    const void *input[HEDDLE_MAX_OPERANDS];
    void *output[HEDDLE_MAX_OPERANDS];
    void *workspace;       // at least rung->workspace(shape, threads) bytes, 256-byte aligned; content undefined
    heddle_stream *stream; // NULL on cpu: run now, in the calling thread
    heddle_pool *pool;     // cpu rungs spread over these threads; NULL: one thread
} heddle_call;

// Which part of the ladders `--kernels` picks from.
typedef enum heddle_tier {
    HEDDLE_NAIVE,  // the loop or kernel one writes first
    HEDDLE_TUNED,  // our own, made fast
    HEDDLE_VENDOR, // OpenBLAS, cuBLAS, cuDNN, ...
    HEDDLE_FUSED,  // a tuned rung of an operator that fuses others
} heddle_tier;
// "naive" and so on, by heddle_tier; NULL-terminated.
HEDDLE_API extern const char *const heddle_tier_names[];

// What the inputs of a rung's multiplications are rounded to. Sums are float32 or better, except where a rung has
// `sum_bits`.
typedef enum heddle_arithmetic {
    HEDDLE_FULL,   // not at all
    HEDDLE_TF32X3, // each the sum of two numbers of 11 bits, three products added: nearly float32, on tensor cores
    HEDDLE_TF32,   // float32 with 10 bits of mantissa, as tensor cores take it
    HEDDLE_FP16,   // IEEE half; gradients are multiplied by a scale on the way, and checked for overflow
    HEDDLE_BFLOAT, // bf16: 7 bits of mantissa
    HEDDLE_INT8,   // signed bytes with a scale per tensor or channel, summed in int32; for inference alone
} heddle_arithmetic;
// "full", "tf32x3", "tf32", "fp16", "bf16", "int8", by heddle_arithmetic; NULL-terminated.
HEDDLE_API extern const char *const heddle_arithmetic_names[];

struct heddle_rung {
    const char *name;          // "cpu_im2col", "03_shared_tiles": also its file's name
    heddle_device_kind device; // what is written for cuda runs on sim too
    heddle_tier tier;
    heddle_status (*launch)(const heddle_call *call);    // NULL: it comes with the device's module, by this name
    const char *note;                                    // one line: what it does, what limits it
    bool (*supports)(const void *shape);                 // NULL: every valid shape
    size_t (*workspace)(const void *shape, int threads); // NULL: none
    heddle_arithmetic arithmetic;
    int capability;       // 80: cards from Ampere on; 90: only Hopper, by its own instructions; 0: any
    int shared_bytes;     // of its largest block, where not every card of that capability has as much; 0: all have
    const char *gpu_only; // what of it the simulated GPU lacks ("wgmma and TMA", "cuBLAS"); NULL: it runs there
    int sum_bits;         // that a tensor core keeps of a sum until float32 takes it: 14 for fp8 on Hopper; 0: float32
    bool unordered;       // adds in whatever order threads come: not the same bits every time
    bool (*pays)(const void *shape); // whether it is worth choosing for what it supports; NULL: wherever it stands last
};

// Whether a rung is for a kind of device: the simulated GPU runs what is written for a real one, but for gpu_only.
HEDDLE_API bool heddle_rung_runs_on(const heddle_rung *rung, heddle_device_kind device);

// How far a rung may be from the float64 reference.
typedef enum heddle_exactness {
    HEDDLE_ROUNDING, // scaled by dtype and reduction length
    HEDDLE_EXACT,    // bit for bit: nothing is computed
    HEDDLE_SUMS,     // as HEDDLE_ROUNDING, but exact where inputs are whole numbers: sums of inputs and nothing else
    HEDDLE_NORM,     // an operand as a whole: the L2 norm of its error, relative to its own. For whole networks, where
                     // a rounding may move the winner of a pooling window and one element far, but few of them.
                     // Operands marked smooth are held to less.
} heddle_exactness;

struct heddle_op {
    const char *name;        // "conv2d_forward"
    const char *ladder_name; // the folder it stands in: "conv2d"
    const char *summary;
    size_t shape_size;
    const heddle_field *fields;
    int field_count;
    const heddle_operand *operands; // inputs first, then outputs and updates
    int operand_count;
    heddle_status (*validate)(const void *shape); // says what is wrong with a shape; NULL: every field >= 0 will do
    heddle_cost (*cost)(const void *shape);
    // float64 of everything; integer operands arrive as doubles holding the integer. Updates are read and written.
    void (*reference)(const void *shape, const double *const *input, double *const *output);
    heddle_dtype (*element)(const void *shape); // of operands whose dtype the table has as HEDDLE_BF16; NULL: that
    heddle_exactness exactness;
    int64_t (*reduction)(const void *shape); // longest sum behind one output element; NULL: 1
    void (*fill)(const void *shape, int operand, uint64_t seed, double *values); // for HEDDLE_VALUES_OWN
    const char *const *test_shapes;    // "m=1 n=7 k=31", NULL-terminated; has ones, primes and ragged ends
    const char *const *bench_shapes;   // likewise, the first is the default
    const heddle_op *const *gradients; // NULL-terminated; same shape struct; NULL: not differentiable
    const heddle_rung *ladder;         // slowest first
    int rungs;
};

// --- the registry ---------------------------------------------------------------------------------------------------

HEDDLE_API int heddle_op_count(void);
HEDDLE_API const heddle_op *heddle_op_at(int index);
// HEDDLE_NOT_FOUND suggests the nearest name.
HEDDLE_API heddle_status heddle_op_find(const char *name, const heddle_op **op);
HEDDLE_API heddle_status heddle_rung_find(const heddle_op *op, const char *name, const heddle_rung **rung);

// The best rung of `op` for a device and shape, nothing above `tier` (FUSED > VENDOR > TUNED > NAIVE where they stand
// on the ladder), that this machine's module and card have and that pays; HEDDLE_UNSUPPORTED when none can do it. Its
// arithmetic is `arithmetic` or full; where HEDDLE_FP16 or HEDDLE_BFLOAT is asked for, tf32 will do as well, where
// tf32, tf32x3, and where HEDDLE_INT8, any of these but HEDDLE_FP16.
HEDDLE_API heddle_status heddle_rung_choose(const heddle_op *op, heddle_device_kind device, heddle_tier tier,
                                            heddle_arithmetic arithmetic, const void *shape, const heddle_rung **rung);

// All that it would choose from, the best by the ladder's order first. Returns how many there are, and fills at most
// `most`.
HEDDLE_API int heddle_rung_candidates(const heddle_op *op, heddle_device_kind device, heddle_tier tier,
                                      heddle_arithmetic arithmetic, const void *shape, const heddle_rung **rungs,
                                      int most);

// Reads "m=64 n=3 k=7" into the operator's shape struct and validates it.
HEDDLE_API heddle_status heddle_shape_parse(const heddle_op *op, const char *text, void *shape);
// Writes it back; returns `text`.
HEDDLE_API const char *heddle_shape_print(const heddle_op *op, const void *shape, char *text, size_t size);
HEDDLE_API heddle_status heddle_shape_validate(const heddle_op *op, const void *shape);

// Number of elements of operand `index` (as in op->operands), 1 for rank 0.
HEDDLE_API size_t heddle_operand_elements(const heddle_op *op, int index, const void *shape);
// Of its last dimension, 1 for rank 0.
HEDDLE_API size_t heddle_operand_columns(const heddle_op *op, int index, const void *shape);
HEDDLE_API size_t heddle_operand_bytes(const heddle_op *op, int index, const void *shape);
HEDDLE_API heddle_dtype heddle_operand_dtype(const heddle_op *op, int index, const void *shape);
// Index in op->operands, or -1.
HEDDLE_API int heddle_operand_find(const heddle_op *op, const char *name);
// Where operand `index` goes in a call: *slot is its place in input[] (returns false) or output[] (returns true).
HEDDLE_API bool heddle_operand_slot(const heddle_op *op, int index, int *slot);

// Queues the rung on call->stream (all of `call` and its shape is copied), or runs it now when stream is NULL.
HEDDLE_API heddle_status heddle_launch(const heddle_op *op, const heddle_rung *rung, const heddle_call *call);

#ifdef __cplusplus
}
#endif
#endif
