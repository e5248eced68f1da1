// cnn_train's operators one after another: which operand goes where.

#include "ops/cnn_train/chain.h"

#include <string.h>

#include "ops/optimizer/optimizer.h"
#include "ops/step_end/step_end.h"

size_t heddle_cnn_train_chain_bytes(const heddle_cnn_train_shape *shape, bool wide)
{
    return (size_t)heddle_cnn_train_parameters(shape).floats * (wide ? sizeof(double) : sizeof(float));
}

// Tensor `tensor` of a bank at `memory`.
static void *tensor_of(void *memory, const heddle_cnn_train_bank *bank, int tensor, size_t size)
{
    return bank->at[tensor] < 0 ? NULL : (char *)memory + (size_t)bank->at[tensor] * size;
}

static heddle_status run_step(const heddle_cnn_train_shape *shape, size_t size, const void *const *input,
                              void *const *output, void *gradients, heddle_cnn_step_runner *runner, void *context)
{
    const heddle_cnn_step_shape step = heddle_cnn_train_step(shape);
    const heddle_cnn_train_bank parameters = heddle_cnn_train_parameters(shape);
    const heddle_cnn_train_bank statistics = heddle_cnn_train_statistics(shape);
    const void *inputs[HEDDLE_MAX_OPERANDS] = {
        [HEDDLE_CNN_IMAGES] = input[HEDDLE_CNN_TRAIN_IMAGES],
        [HEDDLE_CNN_LABELS] = input[HEDDLE_CNN_TRAIN_LABELS],
        [HEDDLE_CNN_ORDER] = input[HEDDLE_CNN_TRAIN_ORDER],
        [HEDDLE_CNN_CURSOR] = output[HEDDLE_CNN_TRAIN_CURSOR],
    };
    void *outputs[HEDDLE_MAX_OPERANDS] = {
        [HEDDLE_CNN_LOSS] = output[HEDDLE_CNN_TRAIN_LOSS],
        [HEDDLE_CNN_CORRECT] = output[HEDDLE_CNN_TRAIN_CORRECT],
    };
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++) {
        inputs[HEDDLE_CNN_FIRST_PARAMETER + i] = tensor_of(output[HEDDLE_CNN_TRAIN_PARAMETERS], &parameters, i, size);
        outputs[HEDDLE_CNN_FIRST_GRADIENT + i] = tensor_of(gradients, &parameters, i, size);
    }
    for (int i = 0; i < HEDDLE_CNN_STATISTICS; i++)
        outputs[HEDDLE_CNN_FIRST_STATISTIC + i] = tensor_of(output[HEDDLE_CNN_TRAIN_STATISTICS], &statistics, i, size);
    return runner(context, &heddle_op_cnn_step, &step, inputs, outputs);
}

// The optimiser sees whole banks; what lies between two tensors has no gradient, and stays zero where it was.
static heddle_status run_update(const heddle_cnn_train_shape *shape, void *const *output, const void *gradients,
                                heddle_cnn_step_runner *runner, void *context)
{
    static const heddle_op *const optimizers[] = {&heddle_op_sgd_update, &heddle_op_momentum_update,
                                                  &heddle_op_adamw_update};
    const heddle_update_shape elements = {.n = heddle_cnn_train_parameters(shape).floats};
    const void *const inputs[] = {gradients, output[HEDDLE_CNN_TRAIN_HYPER]};
    void *const outputs[] = {output[HEDDLE_CNN_TRAIN_PARAMETERS], output[HEDDLE_CNN_TRAIN_FIRST_MOMENT],
                             output[HEDDLE_CNN_TRAIN_SECOND_MOMENT]};
    return runner(context, optimizers[shape->optimizer], &elements, inputs, outputs);
}

// The row of the schedule that the first step goes by.
static void take_hyper(const heddle_cnn_train_shape *shape, bool wide, const void *schedule, void *const *output)
{
    int64_t steps = wide ? (int64_t)((const double *)output[HEDDLE_CNN_TRAIN_CURSOR])[1]
                         : ((const int64_t *)output[HEDDLE_CNN_TRAIN_CURSOR])[1];
    size_t row = (size_t)(steps < shape->rows ? steps : shape->rows - 1);
    size_t bytes = HEDDLE_HYPER_COUNT * (wide ? sizeof(double) : sizeof(float));
    memcpy(output[HEDDLE_CNN_TRAIN_HYPER], (const char *)schedule + row * bytes, bytes);
}

static void begin_anew(const heddle_cnn_train_shape *shape, bool wide, void *cursor)
{
    double *real = cursor;
    int64_t *whole = cursor, position = wide ? (int64_t)*real : *whole;
    position = HEDDLE_CNN_TRAIN_WRAPPED(position, shape->length, shape->n * shape->steps);
    if (wide)
        *real = (double)position;
    else
        *whole = position;
}

heddle_status heddle_cnn_train_chain_run(const heddle_cnn_train_shape *shape, bool wide, const void *const *input,
                                         void *const *output, void *memory, heddle_cnn_step_runner *runner,
                                         void *context)
{
    const size_t size = wide ? sizeof(double) : sizeof(float);
    const heddle_step_end_shape end = {.n = shape->n, .length = shape->rows};
    memset(memory, 0, heddle_cnn_train_chain_bytes(shape, wide));
    take_hyper(shape, wide, input[HEDDLE_CNN_TRAIN_SCHEDULE], output);
    for (int step = 0; step < shape->steps; step++) {
        HEDDLE_TRY(run_step(shape, size, input, output, memory, runner, context));
        HEDDLE_TRY(run_update(shape, output, memory, runner, context));
        const void *const inputs[] = {output[HEDDLE_CNN_TRAIN_LOSS], output[HEDDLE_CNN_TRAIN_CORRECT],
                                      input[HEDDLE_CNN_TRAIN_SCHEDULE], NULL}; // no step is left out
        void *const outputs[] = {output[HEDDLE_CNN_TRAIN_CURSOR], output[HEDDLE_CNN_TRAIN_TALLY],
                                 output[HEDDLE_CNN_TRAIN_HYPER]};
        HEDDLE_TRY(runner(context, &heddle_op_step_end, &end, inputs, outputs));
    }
    begin_anew(shape, wide, output[HEDDLE_CNN_TRAIN_CURSOR]);
    return HEDDLE_OK;
}
