#include "learn.h"

#include "16.1-polynomial.cu"

int main(void)
{
    struct {
        int n;
        float a, b, c;
    } cases[] = {{1, 1, 0, 0}, {256, 0.5f, -2, 3}, {1009, -0.25f, 1, -0.5f}};
    for (auto p : cases) {
        learn_case("n = %d, a = %g, b = %g, c = %g", p.n, p.a, p.b, p.c);
        std::vector<float> x = learn_values<float>(p.n), grad_y = learn_values<float>(p.n, 2);
        std::vector<float> y(p.n), grad_x(p.n);
        for (int i = 0; i < p.n; i++) {
            y[i] = p.a * x[i] * x[i] * x[i] + p.b * x[i] + p.c;
            grad_x[i] = grad_y[i] * (3 * p.a * x[i] * x[i] + p.b);
        }
        float *device_x = learn_device(x), *device_grad_y = learn_device(grad_y);
        float *device_y = learn_output<float>(p.n), *device_grad_x = learn_output<float>(p.n);
        int blocks = (p.n + 127) / 128;
        learn_threads_1d(128);
        forward<<<blocks, 128>>>(device_x, device_y, p.a, p.b, p.c, p.n);
        learn_expect("y", device_y, y);
        backward<<<blocks, 128>>>(device_x, device_grad_y, device_grad_x, p.a, p.b, p.n);
        learn_expect("grad_x", device_grad_x, grad_x);
    }
    return learn_passed();
}
