#include "learn.h"

#include "18.4-mandelbrot.cu"

static int steps(double cx, double cy, int limit)
{
    double x = 0, y = 0;
    int count = 0;
    for (; count < limit && x * x + y * y <= 4; count++) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
    }
    return count;
}

// The count if it is the same for all points nearby, where rounding cannot change it; else -1.
static int robust_steps(double cx, double cy, int limit)
{
    const double near = 1e-5;
    int count = steps(cx, cy, limit);
    for (int i = 0; i < 9; i++)
        if (steps(cx + near * (i % 3 - 1), cy + near * (i / 3 - 1), limit) != count)
            return -1;
    return count;
}

int main(void)
{
    struct {
        int width, height;
        float left, top, size;
        int limit;
    } cases[] = {{1, 1, 0, 0, 1, 50}, {37, 25, -2.25f, -1.5f, 0.125f, 40}, {32, 16, -0.8f, 0.05f, 0.01f, 25}};
    for (auto c : cases) {
        learn_case("%d x %d pixels from (%g, %g), limit %d", c.width, c.height, c.left, c.top, c.limit);
        std::vector<int> expected(c.width * c.height), found(expected.size());
        int *counts = learn_output<int>(expected.size());
        dim3 block(16, 8), grid((c.width + 15) / 16, (c.height + 7) / 8);
        mandelbrot<<<grid, block>>>(counts, c.width, c.height, c.left, c.top, c.size, c.limit);
        learn_wait();
        cudaMemcpy(found.data(), counts, found.size() * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < c.width * c.height; i++) {
            float cx = c.left + c.size * (float)(i % c.width), cy = c.top + c.size * (float)(i / c.width);
            expected[i] = robust_steps(cx, cy, c.limit);
            if (expected[i] < 0 && found[i] > 0 && found[i] <= c.limit)
                expected[i] = found[i]; // on the edge, where the last bit decides
        }
        learn_threads_2d(block, c.width);
        learn_expect_host("counts", found, expected);
    }
    return learn_passed();
}
