#include "learn.h"

#include "14.4-linear-backward.cu"

int main(void)
{
    struct {
        int rows, inputs, outputs;
    } cases[] = {{1, 1, 1}, {2, 3, 5}, {8, 16, 8}, {7, 31, 10}};
    for (auto c : cases) {
        learn_case("%d rows, %d inputs, %d outputs", c.rows, c.inputs, c.outputs);
        std::vector<float> x = learn_values<float>(c.rows * c.inputs), w = learn_values<float>(c.outputs * c.inputs, 2);
        std::vector<float> grad_y = learn_values<float>(c.rows * c.outputs, 3);
        std::vector<float> expected_x(x.size(), 0.0f), expected_w(w.size(), 0.0f);
        for (int r = 0; r < c.rows; r++)
            for (int o = 0; o < c.outputs; o++)
                for (int i = 0; i < c.inputs; i++) {
                    expected_x[r * c.inputs + i] += grad_y[r * c.outputs + o] * w[o * c.inputs + i];
                    expected_w[o * c.inputs + i] += grad_y[r * c.outputs + o] * x[r * c.inputs + i];
                }
        float *device_x = learn_device(x), *device_w = learn_device(w), *device_y = learn_device(grad_y);
        float *found_x = learn_output<float>(x.size()), *found_w = learn_output<float>(w.size());
        dim3 block(8, 8);
        learn_threads_2d(block, c.inputs);
        grad_x<<<dim3((c.inputs + 7) / 8, (c.rows + 7) / 8), block>>>(device_y, device_w, found_x, c.rows, c.inputs,
                                                                      c.outputs);
        learn_expect("grad_x", found_x, expected_x);
        grad_w<<<dim3((c.inputs + 7) / 8, (c.outputs + 7) / 8), block>>>(device_y, device_x, found_w, c.rows, c.inputs,
                                                                         c.outputs);
        learn_expect("grad_w", found_w, expected_w);
    }
    return learn_passed();
}
