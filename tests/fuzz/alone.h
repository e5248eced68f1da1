// What the fuzz targets of models leave out when libFuzzer builds them alone.
#ifndef HEDDLE_TESTS_FUZZ_ALONE_H
#define HEDDLE_TESTS_FUZZ_ALONE_H

#include "nn/lower.h"
#include "nn/state.h"

// Reading a model only takes the addresses of what would compute it, and reading a checkpoint loads no numbers. With
// these the fuzzer needs no operators and no device.
heddle_value heddle_lower_parameter(const heddle_lowering *lowering, const heddle_layer *layer, const char *name)
{
    (void)lowering, (void)layer, (void)name;
    __builtin_trap();
}

heddle_status heddle_lower_op(heddle_lowering *lowering, const char *op_name, const void *shape,
                              const heddle_binding *bound, int count, heddle_value *output)
{
    (void)lowering, (void)op_name, (void)shape, (void)bound, (void)count, (void)output;
    __builtin_trap();
}

heddle_status heddle_lower_layers(heddle_lowering *lowering, const heddle_layer_list *list, heddle_value input,
                                  heddle_value *output)
{
    (void)lowering, (void)list, (void)input, (void)output;
    __builtin_trap();
}

heddle_status heddle_lower_reshape(heddle_lowering *lowering, const heddle_layer *layer, heddle_value *output)
{
    (void)lowering, (void)layer, (void)output;
    __builtin_trap();
}

heddle_status heddle_lower_elements(const heddle_lowering *lowering, int rank, const int *dims, int *count)
{
    (void)lowering, (void)rank, (void)dims, (void)count;
    __builtin_trap();
}

heddle_status heddle_lower_random(heddle_lowering *lowering, int elements, heddle_value *random)
{
    (void)lowering, (void)elements, (void)random;
    __builtin_trap();
}

heddle_bank heddle_state_bank(const heddle_state *state, int index)
{
    (void)state, (void)index;
    __builtin_trap();
}

size_t heddle_state_elements(const heddle_state *state, int index)
{
    (void)state, (void)index;
    __builtin_trap();
}

heddle_status heddle_state_read(const heddle_state *state, heddle_stream *stream, heddle_bank bank, float *values)
{
    (void)state, (void)stream, (void)bank, (void)values;
    __builtin_trap();
}

heddle_status heddle_state_write(heddle_state *state, heddle_stream *stream, heddle_bank bank, const float *values)
{
    (void)state, (void)stream, (void)bank, (void)values;
    __builtin_trap();
}

#endif
