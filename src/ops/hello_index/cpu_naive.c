// hello_index on the CPU: a grid written as loops. On a GPU both loops are gone: every iteration is a thread.

#include "heddle/ops.h"
#include "ops/hello_index/hello_index.h"

heddle_status heddle_hello_index_cpu_naive(const heddle_call *call)
{
    const heddle_hello_index_shape *shape = call->shape;
    int *index = call->output[0], *block = call->output[1], *thread = call->output[2];
    for (int b = 0; (long long)b * shape->threads < shape->n; b++)
        for (int t = 0; t < shape->threads && b * shape->threads + t < shape->n; t++) {
            int i = b * shape->threads + t;
            index[i] = i;
            block[i] = b;
            thread[i] = t;
        }
    return HEDDLE_OK;
}
