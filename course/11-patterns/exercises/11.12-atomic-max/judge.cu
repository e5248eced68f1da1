#include "learn.h"

// Contention on purpose: where a swap would succeed, another thread may have been faster with a value in between. So a
// swap that is not tried again loses its value, on every GPU and on the simulator.
__device__ static int contended_swap(int *address, int expected, int wanted)
{
    bool even = expected % 2 == 0, raises = __int_as_float(wanted) > __int_as_float(expected);
    if (even && raises) {
        int raised = expected < 0 ? expected - 1 : expected + 1; // the next larger float, which has odd bits
        int found = atomicCAS(address, expected, raised);
        return found == expected ? raised : found;
    }
    return atomicCAS(address, expected, wanted);
}

__device__ static unsigned contended_swap(unsigned *address, unsigned expected, unsigned wanted)
{
    return (unsigned)contended_swap((int *)address, (int)expected, (int)wanted);
}

#define atomicCAS contended_swap
#include "11.12-atomic-max.cu"

int main(void)
{
    struct {
        int n;
        float offset;
    } cases[] = {{1, -100}, {1009, 0}, {1009, -20}, {300, 0.25f}};
    for (auto c : cases) {
        learn_case("n = %d, values around %g", c.n, c.offset);
        std::vector<float> in = learn_values<float>(c.n), expected(1, -INFINITY);
        for (int i = 0; i < c.n; i++) {
            in[i] += c.offset + (float)(i % 37) / 64;
            expected[0] = std::fmax(expected[0], in[i]);
        }
        float *device_in = learn_device(in), *largest = learn_device(std::vector<float>(1, -INFINITY));
        find_largest<<<(c.n + 127) / 128, 128>>>(device_in, largest, c.n);
        learn_expect("largest", largest, expected);
    }
    return learn_passed();
}
