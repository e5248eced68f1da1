// polynomial_activation, second rung: Horner's rule on vectors of elements, on all threads.
//
// A polynomial of degree d takes d multiplications, and the compiler does them for as many elements as a vector holds.
//
// Limited by: memory bandwidth.

#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/polynomial_activation/polynomial_activation.h"

typedef struct polynomial_work {
    heddle_polynomial_terms terms;
    int degree;
    const float *input, *grad_output;
    float *output;
} polynomial_work;

enum { BLOCK = 64 }; // floats: in registers from the first term to the last

HEDDLE_CLONES static void block_horner(const float *terms, int degree, const float *restrict input,
                                       const float *restrict factor, float *restrict output, size_t count)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        float x[BLOCK], value[BLOCK];
        size_t some = count - first < BLOCK ? count - first : BLOCK;
        for (size_t i = 0; i < BLOCK; i++) {
            x[i] = i < some ? input[first + i] : 0;
            value[i] = terms[degree];
        }
        for (int term = degree - 1; term >= 0; term--)
            for (int i = 0; i < BLOCK; i++)
                value[i] = value[i] * x[i] + terms[term];
        for (size_t i = 0; i < some; i++)
            output[first + i] = factor ? value[i] * factor[first + i] : value[i];
    }
}

static void forward_piece(void *context, size_t begin, size_t end, int number, int worker)
{
    (void)number, (void)worker;
    const polynomial_work *work = context;
    block_horner(work->terms.value, work->degree, work->input + begin, NULL, work->output + begin, end - begin);
}

static void backward_piece(void *context, size_t begin, size_t end, int number, int worker)
{
    (void)number, (void)worker;
    const polynomial_work *work = context;
    int degree = work->degree > 0 ? work->degree - 1 : 0; // the slope of a constant is the constant 0
    block_horner(work->terms.slope, degree, work->input + begin, work->grad_output + begin, work->output + begin,
                 end - begin);
}

static heddle_status run(const heddle_call *call, const float *grad_output, heddle_piece_task *piece)
{
    const heddle_polynomial_activation_shape *shape = call->shape;
    polynomial_work work = {.terms = heddle_polynomial_terms_of(shape),
                            .degree = shape->degree,
                            .input = call->input[0],
                            .grad_output = grad_output,
                            .output = call->output[0]};
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, piece, &work);
    return HEDDLE_OK;
}

heddle_status heddle_polynomial_activation_forward_cpu_vectorised(const heddle_call *call)
{
    return run(call, NULL, forward_piece);
}

heddle_status heddle_polynomial_activation_backward_cpu_vectorised(const heddle_call *call)
{
    return run(call, call->input[1], backward_piece);
}
