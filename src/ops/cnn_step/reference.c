// cnn_step in float64: the references of the operators that it is made of, one after another.

#include <math.h>
#include <stdlib.h>

#include "ops/activation/activation.h"
#include "ops/cnn_step/chain.h"
#include "ops/cpu/scratch.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/gather/gather.h"
#include "ops/linear/linear.h"
#include "ops/stem_block/stem_block.h"

// Number of each layer's first tensor; the others of the layer follow it.
enum {
    CONV1 = HEDDLE_CNN_conv1_weight,
    CONV2 = HEDDLE_CNN_conv2_weight,
    HIDDEN = HEDDLE_CNN_hidden_weight,
    OUTPUT = HEDDLE_CNN_output_weight,
};

// --- the operands between them --------------------------------------------------------------------------------------

typedef struct between {
    double *images, *labels;
    double *pooled1, *moments, *mean1, *inverse_std1, *code1;
    double *pooled2, *convolution, *mean2, *inverse_std2, *code2;
    double *hidden, *active, *logits, *probabilities;
    double *one, *grad_logits, *grad_active, *grad_hidden, *grad_pooled2, *grad_pooled1;
} between;

// Room for the operand `name` of an operator.
static double *take(heddle_scratch *room, const heddle_op *op, const void *shape, const char *name)
{
    const size_t elements = heddle_operand_elements(op, heddle_operand_find(op, name), shape);
    return heddle_scratch_take(room, elements * sizeof(double));
}

static between lay_out(const heddle_cnn_step_chain *chain, heddle_scratch *room)
{
    const heddle_op *stem = &heddle_op_stem_block_forward, *block = &heddle_op_conv_block_forward;
    const heddle_op *linear = &heddle_op_linear_forward, *loss = &heddle_op_cross_entropy_forward;
    return (between){
        .images = take(room, &heddle_op_gather, &chain->gather, "images"),
        .labels = take(room, &heddle_op_gather, &chain->gather, "labels"),
        .pooled1 = take(room, stem, &chain->stem, "output"),
        .moments = take(room, stem, &chain->stem, "moments"),
        .mean1 = take(room, stem, &chain->stem, "mean"),
        .inverse_std1 = take(room, stem, &chain->stem, "inverse_std"),
        .code1 = take(room, stem, &chain->stem, "code"),
        .pooled2 = take(room, block, &chain->block, "output"),
        .convolution = take(room, block, &chain->block, "convolution"),
        .mean2 = take(room, block, &chain->block, "mean"),
        .inverse_std2 = take(room, block, &chain->block, "inverse_std"),
        .code2 = take(room, block, &chain->block, "code"),
        .hidden = take(room, linear, &chain->hidden, "output"),
        .active = take(room, linear, &chain->hidden, "output"),
        .logits = take(room, linear, &chain->output, "output"),
        .probabilities = take(room, loss, &chain->loss, "probabilities"),
        .one = take(room, loss, &chain->loss, "loss"),
        .grad_logits = take(room, loss, &chain->loss, "logits"),
        .grad_active = take(room, linear, &chain->hidden, "output"),
        .grad_hidden = take(room, linear, &chain->hidden, "output"),
        .grad_pooled2 = take(room, linear, &chain->hidden, "input"),
        .grad_pooled1 = take(room, block, &chain->block, "input"),
    };
}

// --- running them ---------------------------------------------------------------------------------------------------

#define RUN(op, shape, inputs, outputs)                                                                                \
    heddle_op_##op.reference(&chain->shape, (const double *const[HEDDLE_MAX_OPERANDS]){inputs},                        \
                             (double *const[HEDDLE_MAX_OPERANDS]){outputs})
#define LIST(...) __VA_ARGS__

static void forward(const heddle_cnn_step_chain *chain, const double *const *input, double *const *output,
                    const between *all)
{
    const double *const *tensor = input + HEDDLE_CNN_FIRST_PARAMETER;
    const double *const *conv1 = tensor + CONV1, *const *conv2 = tensor + CONV2;
    double *const *statistic = output + HEDDLE_CNN_FIRST_STATISTIC;
    RUN(gather, gather, LIST(input[0], input[1], input[2], input[3]), LIST(all->images, all->labels));
    RUN(stem_block_forward, stem, LIST(all->images, conv1[0], conv1[1], conv1[2], conv1[3]),
        LIST(all->pooled1, all->moments, all->mean1, all->inverse_std1, all->code1, statistic[0], statistic[1]));
    RUN(conv_block_forward, block, LIST(all->pooled1, conv2[0], conv2[1], conv2[2], conv2[3]),
        LIST(all->pooled2, all->convolution, all->mean2, all->inverse_std2, all->code2, statistic[2], statistic[3]));
    RUN(linear_forward, hidden, LIST(all->pooled2, tensor[HIDDEN], tensor[HIDDEN + 1]), all->hidden);
    RUN(relu_forward, relu, all->hidden, all->active);
    RUN(linear_forward, output, LIST(all->active, tensor[OUTPUT], tensor[OUTPUT + 1]), all->logits);
    RUN(cross_entropy_forward, loss, LIST(all->logits, all->labels),
        LIST(output[HEDDLE_CNN_LOSS], all->probabilities, output[HEDDLE_CNN_CORRECT]));
}

static void backward(const heddle_cnn_step_chain *chain, const double *const *input, double *const *output,
                     const between *all)
{
    const double *const *tensor = input + HEDDLE_CNN_FIRST_PARAMETER;
    const double *const *conv1 = tensor + CONV1, *const *conv2 = tensor + CONV2;
    double *const *gradient = output + HEDDLE_CNN_FIRST_GRADIENT;
    double *const *grad1 = gradient + CONV1, *const *grad2 = gradient + CONV2;
    RUN(cross_entropy_backward, loss, LIST(all->probabilities, all->labels, all->one), all->grad_logits);
    RUN(linear_backward, output, LIST(all->active, tensor[OUTPUT], all->grad_logits),
        LIST(all->grad_active, gradient[OUTPUT], gradient[OUTPUT + 1]));
    RUN(relu_backward, relu, LIST(all->hidden, all->active, all->grad_active), all->grad_hidden);
    RUN(linear_backward, hidden, LIST(all->pooled2, tensor[HIDDEN], all->grad_hidden),
        LIST(all->grad_pooled2, gradient[HIDDEN], gradient[HIDDEN + 1]));
    RUN(conv_block_backward, block,
        LIST(all->pooled1, conv2[0], conv2[2], conv2[3], all->convolution, all->mean2, all->inverse_std2, all->code2,
             all->grad_pooled2),
        LIST(all->grad_pooled1, grad2[0], grad2[1], grad2[2], grad2[3]));
    RUN(stem_block_backward, stem,
        LIST(all->images, conv1[0], conv1[2], conv1[3], all->moments, all->mean1, all->inverse_std1, all->code1,
             all->grad_pooled1),
        LIST(grad1[0], grad1[1], grad1[2], grad1[3]));
}

void heddle_cnn_step_reference(const void *shape, const double *const *input, double *const *output)
{
    const heddle_cnn_step_chain chain = heddle_cnn_step_chain_of(shape);
    heddle_scratch room = {0};
    lay_out(&chain, &room);
    void *memory = malloc(room.used);
    room = (heddle_scratch){.base = memory};
    output[0][0] = NAN; // a value that no rung gives, if memory runs out
    if (memory) {
        const between all = lay_out(&chain, &room);
        *all.one = 1;
        forward(&chain, input, output, &all);
        backward(&chain, input, output, &all);
    }
    free(memory);
}
