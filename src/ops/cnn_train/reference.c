// cnn_train in float64: the references of cnn_step, of an optimiser's update and of step_end, once per step.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/cnn_train/cnn_train.h"
#include "ops/optimizer/optimizer.h"
#include "ops/step_end/step_end.h"

// Tensor `tensor` of a bank at `memory`.
static double *tensor_of(double *memory, const heddle_cnn_train_bank *bank, int tensor)
{
    return bank->at[tensor] < 0 ? NULL : memory + bank->at[tensor];
}

static void run_step(const heddle_cnn_train_shape *shape, const double *const *input, double *const *output,
                     double *gradients)
{
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    const heddle_cnn_train_bank parameters = heddle_cnn_train_parameters(shape);
    const heddle_cnn_train_bank statistics = heddle_cnn_train_statistics(shape);
    const double *inputs[HEDDLE_MAX_OPERANDS] = {
        [HEDDLE_CNN_IMAGES] = input[HEDDLE_CNN_TRAIN_IMAGES],
        [HEDDLE_CNN_LABELS] = input[HEDDLE_CNN_TRAIN_LABELS],
        [HEDDLE_CNN_ORDER] = input[HEDDLE_CNN_TRAIN_ORDER],
        [HEDDLE_CNN_CURSOR] = output[HEDDLE_CNN_TRAIN_CURSOR],
    };
    double *outputs[HEDDLE_MAX_OPERANDS] = {
        [HEDDLE_CNN_LOSS] = output[HEDDLE_CNN_TRAIN_LOSS],
        [HEDDLE_CNN_CORRECT] = output[HEDDLE_CNN_TRAIN_CORRECT],
    };
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++) {
        inputs[HEDDLE_CNN_FIRST_PARAMETER + i] = tensor_of(output[HEDDLE_CNN_TRAIN_PARAMETERS], &parameters, i);
        outputs[HEDDLE_CNN_FIRST_GRADIENT + i] = tensor_of(gradients, &parameters, i);
    }
    for (int i = 0; i < HEDDLE_CNN_STATISTICS; i++)
        outputs[HEDDLE_CNN_FIRST_STATISTIC + i] = tensor_of(output[HEDDLE_CNN_TRAIN_STATISTICS], &statistics, i);
    heddle_cnn_step_reference(&step, inputs, outputs);
}

// The optimiser sees whole banks; what lies between two tensors has no gradient, and stays zero.
static void run_update(const heddle_cnn_train_shape *shape, double *const *output, const double *gradients)
{
    static const heddle_op *const optimizers[] = {&heddle_op_sgd_update, &heddle_op_momentum_update,
                                                  &heddle_op_adamw_update};
    const heddle_update_shape elements = {.n = heddle_cnn_train_parameters(shape).floats};
    const double *const inputs[] = {gradients, output[HEDDLE_CNN_TRAIN_HYPER]};
    double *const outputs[] = {output[HEDDLE_CNN_TRAIN_PARAMETERS], output[HEDDLE_CNN_TRAIN_FIRST_MOMENT],
                               output[HEDDLE_CNN_TRAIN_SECOND_MOMENT]};
    optimizers[shape->optimizer]->reference(&elements, inputs, outputs);
}

// The row of the schedule for the first step.
static void take_hyper(const heddle_cnn_train_shape *shape, const double *schedule, double *const *output)
{
    const int64_t steps = (int64_t)output[HEDDLE_CNN_TRAIN_CURSOR][1];
    const size_t row = (size_t)(steps < shape->rows ? steps : shape->rows - 1);
    memcpy(output[HEDDLE_CNN_TRAIN_HYPER], schedule + row * HEDDLE_HYPER_COUNT, HEDDLE_HYPER_COUNT * sizeof(double));
}

void heddle_cnn_train_reference(const void *shape_, const double *const *input, double *const *output)
{
    const heddle_cnn_train_shape *shape = shape_;
    const heddle_step_end_shape end = {.n = shape->n, .length = shape->rows};
    const double *const end_inputs[] = {output[HEDDLE_CNN_TRAIN_LOSS], output[HEDDLE_CNN_TRAIN_CORRECT],
                                        input[HEDDLE_CNN_TRAIN_SCHEDULE], NULL}; // no step is skipped
    double *const end_outputs[] = {output[HEDDLE_CNN_TRAIN_CURSOR], output[HEDDLE_CNN_TRAIN_TALLY],
                                   output[HEDDLE_CNN_TRAIN_HYPER]};
    double *gradients = calloc((size_t)heddle_cnn_train_parameters(shape).floats, sizeof *gradients);
    take_hyper(shape, input[HEDDLE_CNN_TRAIN_SCHEDULE], output);
    output[HEDDLE_CNN_TRAIN_LOSS][0] = NAN; // a value that no rung gives, if memory runs out
    for (int step = 0; gradients && step < shape->steps; step++) {
        run_step(shape, input, output, gradients);
        run_update(shape, output, gradients);
        heddle_op_step_end.reference(&end, end_inputs, end_outputs);
    }
    double *cursor = output[HEDDLE_CNN_TRAIN_CURSOR];
    *cursor = (double)HEDDLE_CNN_TRAIN_WRAPPED((int64_t)*cursor, shape->length, shape->n * shape->steps);
    free(gradients);
}
