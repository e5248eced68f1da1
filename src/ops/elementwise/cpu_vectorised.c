// add and multiply, second rung: vector loops on all threads.
//
// Limited by: memory bandwidth.

#include <string.h>

#include "heddle/ops.h"
#include "ops/clones.h"
#include "ops/elementwise/elementwise.h"
#include "ops/pieces.h"

HEDDLE_CLONES static void add(const float *restrict a, const float *restrict b, size_t count, float *restrict output)
{
    for (size_t i = 0; i < count; i++)
        output[i] = a[i] + b[i];
}

HEDDLE_CLONES static void multiply(const float *restrict a, const float *restrict b, size_t count,
                                   float *restrict output)
{
    for (size_t i = 0; i < count; i++)
        output[i] = a[i] * b[i];
}

// The sum overwrites one of its terms. Not restrict: b may be the output itself.
HEDDLE_CLONES static void add_in_place(const float *a, const float *b, size_t count, float *output)
{
    (void)a;
    for (size_t i = 0; i < count; i++)
        output[i] += b[i];
}

// output = loop(a, b), or a copy of a if loop is NULL.
typedef struct pair_work {
    void (*loop)(const float *a, const float *b, size_t count, float *output);
    const float *a, *b;
    float *output;
} pair_work;

static void pair_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const pair_work *work = context;
    if (work->loop)
        work->loop(work->a + begin, work->b + begin, end - begin, work->output + begin);
    else
        memcpy(work->output + begin, work->a + begin, (end - begin) * sizeof(float));
}

// An absent output is not computed.
static void run(const heddle_call *call, pair_work work)
{
    const heddle_elements_shape *shape = call->shape;
    if (work.output)
        heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, pair_piece, &work);
}

heddle_status heddle_add_forward_cpu_vectorised(const heddle_call *call)
{
    const float *a = call->input[0], *b = call->input[1];
    float *output = call->output[0];
    if (output == a)
        run(call, (pair_work){.loop = add_in_place, .a = a, .b = b, .output = output});
    else if (output == b)
        run(call, (pair_work){.loop = add_in_place, .a = b, .b = a, .output = output});
    else
        run(call, (pair_work){.loop = add, .a = a, .b = b, .output = output});
    return HEDDLE_OK;
}

heddle_status heddle_add_backward_cpu_vectorised(const heddle_call *call)
{
    run(call, (pair_work){.a = call->input[0], .output = call->output[0]});
    run(call, (pair_work){.a = call->input[0], .output = call->output[1]});
    return HEDDLE_OK;
}

heddle_status heddle_multiply_forward_cpu_vectorised(const heddle_call *call)
{
    run(call, (pair_work){.loop = multiply, .a = call->input[0], .b = call->input[1], .output = call->output[0]});
    return HEDDLE_OK;
}

heddle_status heddle_multiply_backward_cpu_vectorised(const heddle_call *call)
{
    const float *a = call->input[0], *b = call->input[1], *grad_output = call->input[2];
    run(call, (pair_work){.loop = multiply, .a = grad_output, .b = b, .output = call->output[0]});
    run(call, (pair_work){.loop = multiply, .a = grad_output, .b = a, .output = call->output[1]});
    return HEDDLE_OK;
}
