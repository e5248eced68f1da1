#include "learn.h"

#include "14.5-bias-gradient.cu"

// An atomic, because the simulator runs the blocks of a program with atomics one after the other. So a sum without
// atomics is reported as a race in every run, and does not come out wrong in some of them.
__global__ void spoil(float *grad_bias)
{
    atomicExch(&grad_bias[blockIdx.x], __int_as_float(LEARN_POISON_FLOAT));
}

int main(void)
{
    struct {
        int rows, outputs;
    } cases[] = {{1, 1}, {64, 10}, {7, 129}, {33, 32}};
    for (auto c : cases) {
        learn_case("%d rows, %d outputs", c.rows, c.outputs);
        std::vector<float> grad_y = learn_values<float>(c.rows * c.outputs), expected(c.outputs, 0.0f);
        for (size_t i = 0; i < grad_y.size(); i++)
            expected[i % c.outputs] += grad_y[i];
        float *device_y = learn_device(grad_y), *grad_bias = learn_output<float>(c.outputs);
        spoil<<<c.outputs, 1>>>(grad_bias);
        bias_gradient(device_y, grad_bias, c.rows, c.outputs);
        learn_expect("grad_bias", grad_bias, expected);
    }
    return learn_passed();
}
