// cnn_train's operators one after another: which operand goes where.

#include "ops/cnn_train/chain.h"

#include <string.h>

#include "ops/optimizer/optimizer.h"
#include "ops/step_end/step_end.h"

// Positions of cnn_train's operands in output[], and of cnn_step's.
enum { PARAMETERS = 0, FIRST_MOMENT, SECOND_MOMENT, STATISTICS, CURSOR, TALLY, HYPER, LOSS, CORRECT };
enum { STEP_PARAMETERS = 4, STEP_LOSS = 0, STEP_CORRECT = 1, STEP_GRADIENTS = 2, STEP_STATISTICS = 14 };

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
    const void *inputs[HEDDLE_MAX_OPERANDS] = {input[0], input[1], input[2], output[CURSOR]};
    void *outputs[HEDDLE_MAX_OPERANDS] = {[STEP_LOSS] = output[LOSS], [STEP_CORRECT] = output[CORRECT]};
    for (int i = 0; i < HEDDLE_CNN_PARAMETERS; i++) {
        inputs[STEP_PARAMETERS + i] = tensor_of(output[PARAMETERS], &parameters, i, size);
        outputs[STEP_GRADIENTS + i] = tensor_of(gradients, &parameters, i, size);
    }
    for (int i = 0; i < HEDDLE_CNN_STATISTICS; i++)
        outputs[STEP_STATISTICS + i] = tensor_of(output[STATISTICS], &statistics, i, size);
    return runner(context, &heddle_op_cnn_step, &step, inputs, outputs);
}

// The optimiser sees whole banks; what lies between two tensors has no gradient, and stays zero where it was.
static heddle_status run_update(const heddle_cnn_train_shape *shape, void *const *output, const void *gradients,
                                heddle_cnn_step_runner *runner, void *context)
{
    static const heddle_op *const optimizers[] = {&heddle_op_sgd_update, &heddle_op_momentum_update,
                                                  &heddle_op_adamw_update};
    const heddle_elements_shape elements = {.n = heddle_cnn_train_parameters(shape).floats};
    const void *const inputs[] = {gradients, output[HYPER]};
    void *const outputs[] = {output[PARAMETERS], output[FIRST_MOMENT], output[SECOND_MOMENT]};
    return runner(context, optimizers[shape->optimizer], &elements, inputs, outputs);
}

// The row of the schedule that the first step goes by.
static void take_hyper(const heddle_cnn_train_shape *shape, bool wide, const void *schedule, void *const *output)
{
    int64_t steps = wide ? (int64_t)((const double *)output[CURSOR])[1] : ((const int64_t *)output[CURSOR])[1];
    size_t row = (size_t)(steps < shape->rows ? steps : shape->rows - 1);
    size_t bytes = HEDDLE_HYPER_COUNT * (wide ? sizeof(double) : sizeof(float));
    memcpy(output[HYPER], (const char *)schedule + row * bytes, bytes);
}

static void begin_anew(const heddle_cnn_train_shape *shape, bool wide, void *cursor)
{
    double *real = cursor;
    int64_t *whole = cursor, position = wide ? (int64_t)*real : *whole;
    position = HEDDLE_CNN_TRAIN_CURSOR(position, shape->length, shape->n * shape->steps);
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
    take_hyper(shape, wide, input[3], output);
    for (int step = 0; step < shape->steps; step++) {
        HEDDLE_TRY(run_step(shape, size, input, output, memory, runner, context));
        HEDDLE_TRY(run_update(shape, output, memory, runner, context));
        const void *const inputs[] = {output[LOSS], output[CORRECT], input[3], NULL}; // no step is left out
        void *const outputs[] = {output[CURSOR], output[TALLY], output[HYPER]};
        HEDDLE_TRY(runner(context, &heddle_op_step_end, &end, inputs, outputs));
    }
    begin_anew(shape, wide, output[CURSOR]);
    return HEDDLE_OK;
}
