// What tensor.c, tensor_ops.c, tensor_sweep.c and tensor_update.c share. Everybody else uses heddle/tensor.h.
#pragma once

#include "heddle/random.h"
#include "heddle/tensor.h"
#include "heddle/train.h"
#include "nn/run.h"
#include "nn/trace.h"

enum {
    HEDDLE_TENSOR_MESSAGE = 512,
    HEDDLE_TENSOR_OP = 32,
    HEDDLE_TENSOR_PARENTS = 3, // input, weight, bias: no operator of heddle/tensor.h takes more
};

struct heddle_tensor {
    heddle_context *context;
    heddle_value value;
    int rank, dims[HEDDLE_MAX_DIMS];
    heddle_dtype dtype;
    heddle_tensor *next;
    bool released;             // by the caller, or made here for a moment
    char op[HEDDLE_TENSOR_OP]; // what computed it; "": it was given
    heddle_tensor *parents[HEDDLE_TENSOR_PARENTS];
    int parent_count;
    // Parameters only: memory that outlives the trace.
    bool is_parameter;
    void *memory;
    void *gradient;
    bool has_gradient;
    void *moment[2];             // what an optimiser remembers; NULL before its first step
    heddle_optimizer moments_of; // HEDDLE_SGD, which remembers nothing: none yet
    int steps;                   // that AdamW has taken
};

struct heddle_context {
    heddle_device *device;
    heddle_stream *stream;
    heddle_workspace workspace;
    heddle_trace trace;
    heddle_tensor *tensors; // of the current trace
    heddle_tensor *parameters;
    heddle_random parameter_random, dropout_random;
    heddle_status failure; // first failure since it was made or cleared
};

typedef struct heddle_argument {
    const char *operand;
    heddle_tensor *tensor; // NULL: an optional one left out
} heddle_argument;

// Remembers the first failure of an expression and gives the NULL that is passed on.
heddle_tensor *heddle_tensor_failed(heddle_context *context, heddle_status status);
// A handle for a value of the trace.
heddle_tensor *heddle_tensor_of(heddle_context *context, heddle_value value);
// A tensor with values of its own.
heddle_tensor *heddle_tensor_make(heddle_context *context, heddle_dtype dtype, int rank, const int *dims,
                                  const void *values);
// The tensor's value in the current trace; a parameter enters it at its first use.
heddle_status heddle_tensor_value(heddle_tensor *tensor, heddle_value *value);
// Frees a tensor that is in no list any more.
void heddle_tensor_free(heddle_tensor *tensor);
// Runs operator `op_name` on tensors and gives its output `result`.
heddle_tensor *heddle_tensor_apply(heddle_context *context, const char *op_name, const void *shape,
                                   const heddle_argument *arguments, int count, const char *result);
