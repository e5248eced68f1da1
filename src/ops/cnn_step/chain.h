// cnn_step as the operators it is made of: gather, stem_block, conv_block, linear, relu, linear, cross_entropy, and the
// gradients of all but the first. The reference runs them in float64, the cpu's rung in its own way.
#ifndef HEDDLE_OPS_CNN_STEP_CHAIN_H
#define HEDDLE_OPS_CNN_STEP_CHAIN_H

#include "ops/cnn_step/cnn_step.h"

typedef struct heddle_cnn_step_chain {
    heddle_gather_shape gather;
    heddle_conv_block_shape stem, block; // channels last between them; what comes out is flattened channels first
    heddle_linear_shape hidden;
    heddle_elements_shape relu;
    heddle_linear_shape output;
    heddle_rows_shape loss;
} heddle_cnn_step_chain;

heddle_cnn_step_chain heddle_cnn_step_chain_of(const heddle_cnn_step_shape *shape);

// Runs one operator of the chain.
typedef heddle_status heddle_cnn_step_runner(void *context, const heddle_op *op, const void *shape,
                                             const void *const *input, void *const *output);
// One such: by the operator's float64 reference. No context.
heddle_status heddle_cnn_step_run_reference(void *context, const heddle_op *op, const void *shape,
                                            const void *const *input, void *const *output);

// Bytes of what lies between the operators: float64 all of it where `wide`, else as the operands' dtypes say.
size_t heddle_cnn_step_chain_bytes(const heddle_cnn_step_chain *chain, bool wide);

// Runs them all, in order, until one fails. `input` and `output` are cnn_step's; `memory` has those bytes.
heddle_status heddle_cnn_step_chain_run(const heddle_cnn_step_chain *chain, bool wide, const void *const *input,
                                        void *const *output, void *memory, heddle_cnn_step_runner *runner,
                                        void *context);

#endif
