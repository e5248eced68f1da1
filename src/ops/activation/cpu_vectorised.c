// Activations, second rung: loops the compiler turns into vector code, over all threads.
//
// cpu_naive calls a function of the C library per element. Here the functions are the branch-free ones of
// vector_math.h, so each loop below handles a vector of elements at a time, and pieces of fixed size go to the pool.
//
// Limited by: memory bandwidth for relu, the polynomial's multiplications for the others.

#include "heddle/ops.h"
#include "ops/activation/activation.h"
#include "ops/clones.h"
#include "ops/pieces.h"
#include "ops/vector_math.h"

// --- values ---------------------------------------------------------------------------------------------------------

static inline float relu_value(float x)
{
    return x < 0.0f ? 0.0f : x; // in this order NaN is preserved
}

static inline float tanh_value(float x)
{
    return heddle_tanh(x);
}

static inline float sigmoid_value(float x)
{
    return heddle_sigmoid(x);
}

static inline float elu_value(float x)
{
    float below = heddle_expm1(heddle_negative_part(x));
    return x <= 0.0f ? below : x;
}

// For use where the other factor is already 0: keeps -infinity * 0 from being NaN.
static const float far_out = 1e4f;

static inline float bounded_below(float x)
{
    float bounded = heddle_clamp_size(x, far_out);
    return x < 0.0f ? bounded : x;
}

static inline float gelu_value(float x)
{
    return bounded_below(x) * heddle_normal_cdf(x, heddle_exp_minus_half_square(x));
}

static inline float softplus_value(float x)
{
    return heddle_softplus(x);
}

static inline float swish_value(float x)
{
    return bounded_below(x) * heddle_sigmoid(x);
}

// --- gradients: of the input x, given the output y and its gradient --------------------------------------------------

static inline float relu_gradient(float x, float y, float grad)
{
    (void)y;
    return x <= 0.0f ? 0.0f : grad;
}

static inline float tanh_gradient(float x, float y, float grad)
{
    (void)x;
    return grad * (1.0f - y * y);
}

static inline float sigmoid_gradient(float x, float y, float grad)
{
    (void)x;
    return grad * (y * (1.0f - y));
}

static inline float elu_gradient(float x, float y, float grad)
{
    (void)y;
    float below = grad * heddle_exp(x);
    return x > 0.0f ? grad : below;
}

static inline float gelu_gradient(float x, float y, float grad)
{
    (void)y;
    const float inverse_root_two_pi = 0.398942280f;
    float e = heddle_exp_minus_half_square(x);
    return grad * (heddle_normal_cdf(x, e) + heddle_clamp_size(x, far_out) * (inverse_root_two_pi * e));
}

static inline float softplus_gradient(float x, float y, float grad)
{
    (void)y;
    return grad * heddle_sigmoid(x);
}

static inline float swish_gradient(float x, float y, float grad)
{
    (void)y;
    float s = heddle_sigmoid(x);
    return grad * (s + heddle_clamp_size(x, far_out) * (s * (1.0f - s)));
}

// --- the loops ------------------------------------------------------------------------------------------------------

typedef void forward_loop(const float *restrict x, float *restrict y, size_t count);
typedef void backward_loop(const float *restrict x, const float *restrict y, const float *restrict grad_y,
                           float *restrict grad_x, size_t count);

typedef struct forward_work {
    forward_loop *loop;
    const float *input;
    float *output;
} forward_work;

static void forward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const forward_work *work = context;
    work->loop(work->input + begin, work->output + begin, end - begin);
}

static heddle_status forward(const heddle_call *call, forward_loop *loop)
{
    const heddle_elements_shape *shape = call->shape;
    forward_work work = {.loop = loop, .input = call->input[0], .output = call->output[0]};
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, forward_piece, &work);
    return HEDDLE_OK;
}

typedef struct backward_work {
    backward_loop *loop;
    const float *input, *output, *grad_output;
    float *grad_input;
} backward_work;

static void backward_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)piece, (void)worker;
    const backward_work *work = context;
    work->loop(work->input + begin, work->output + begin, work->grad_output + begin, work->grad_input + begin,
               end - begin);
}

static heddle_status backward(const heddle_call *call, backward_loop *loop)
{
    const heddle_elements_shape *shape = call->shape;
    backward_work work = {.loop = loop,
                          .input = call->input[0],
                          .output = call->input[1],
                          .grad_output = call->input[2],
                          .grad_input = call->output[0]};
    heddle_pieces_run(call->pool, (size_t)shape->n, HEDDLE_PIECE_ELEMENTS, backward_piece, &work);
    return HEDDLE_OK;
}

#define DEFINE_VECTORISED(name)                                                                                        \
    HEDDLE_CLONES static void name##_forward_loop(const float *restrict x, float *restrict y, size_t count)            \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            y[i] = name##_value(x[i]);                                                                                 \
    }                                                                                                                  \
    HEDDLE_CLONES static void name##_backward_loop(const float *restrict x, const float *restrict y,                   \
                                                   const float *restrict grad_y, float *restrict grad_x, size_t count) \
    {                                                                                                                  \
        for (size_t i = 0; i < count; i++)                                                                             \
            grad_x[i] = name##_gradient(x[i], y[i], grad_y[i]);                                                        \
    }                                                                                                                  \
    heddle_status heddle_##name##_forward_cpu_vectorised(const heddle_call *call)                                      \
    {                                                                                                                  \
        return forward(call, name##_forward_loop);                                                                     \
    }                                                                                                                  \
    heddle_status heddle_##name##_backward_cpu_vectorised(const heddle_call *call)                                     \
    {                                                                                                                  \
        return backward(call, name##_backward_loop);                                                                   \
    }

HEDDLE_ACTIVATIONS(DEFINE_VECTORISED)
