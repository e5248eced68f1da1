// linear, first rung: three loops, one thread.
//
// Limited by: two loads per multiplication. cpu_blocked shares matmul's packed panels.

#include "heddle/ops.h"
#include "ops/linear/linear.h"

heddle_status heddle_linear_forward_cpu_naive(const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    const float *input = call->input[0], *weight = call->input[1], *bias = call->input[2];
    float *output = call->output[0];
    for (int i = 0; i < shape->n; i++)
        for (int o = 0; o < shape->out; o++) {
            float sum = 0;
            for (int p = 0; p < shape->in; p++)
                sum += input[(size_t)i * shape->in + p] * weight[(size_t)o * shape->in + p];
            output[(size_t)i * shape->out + o] = bias ? sum + bias[o] : sum;
        }
    return HEDDLE_OK;
}

// grad_input (n, in) = grad_output (n, out) * weight (out, in)
static void grad_input_loop(const heddle_linear_shape *shape, const float *weight, const float *grad_output,
                            float *grad_input)
{
    for (int i = 0; i < shape->n; i++)
        for (int p = 0; p < shape->in; p++) {
            float sum = 0;
            for (int o = 0; o < shape->out; o++)
                sum += grad_output[(size_t)i * shape->out + o] * weight[(size_t)o * shape->in + p];
            grad_input[(size_t)i * shape->in + p] = sum;
        }
}

// grad_weight (out, in) = grad_output (n, out)ᵀ * input (n, in)
static void grad_weight_loop(const heddle_linear_shape *shape, const float *input, const float *grad_output,
                             float *grad_weight)
{
    for (int o = 0; o < shape->out; o++)
        for (int p = 0; p < shape->in; p++) {
            float sum = 0;
            for (int i = 0; i < shape->n; i++)
                sum += grad_output[(size_t)i * shape->out + o] * input[(size_t)i * shape->in + p];
            grad_weight[(size_t)o * shape->in + p] = sum;
        }
}

static void grad_bias_loop(const heddle_linear_shape *shape, const float *grad_output, float *grad_bias)
{
    for (int o = 0; o < shape->out; o++) {
        float sum = 0;
        for (int i = 0; i < shape->n; i++)
            sum += grad_output[(size_t)i * shape->out + o];
        grad_bias[o] = sum;
    }
}

heddle_status heddle_linear_backward_cpu_naive(const heddle_call *call)
{
    const heddle_linear_shape *shape = call->shape;
    if (call->output[0])
        grad_input_loop(shape, call->input[1], call->input[2], call->output[0]);
    if (call->output[1])
        grad_weight_loop(shape, call->input[0], call->input[2], call->output[1]);
    if (call->output[2])
        grad_bias_loop(shape, call->input[2], call->output[2]);
    return HEDDLE_OK;
}
