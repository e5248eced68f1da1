#include "learn.h"

#include "05.13-grid-stride.cu"

static void judge(int n, int blocks, int threads)
{
    learn_case("n = %d, %d block%s of %d threads", n, blocks, blocks == 1 ? "" : "s", threads);
    std::vector<int> net = learn_values<int>(n), expected(n);
    for (int i = 0; i < n; i++) {
        net[i] = 50 * i + 5 * (net[i] + 8);
        expected[i] = net[i] + net[i] / 5;
    }
    int *device_net = learn_device(net), *device_gross = learn_output<int>(n);
    add_tax<<<blocks, threads>>>(device_net, device_gross, n);
    learn_expect("gross", device_gross, expected);
}

int main(void)
{
    for (int n : {300, 1, 3, 128, 129, 3001})
        judge(n, 4, 32);
    judge(500, 1, 16); // the stride must follow the launch
    judge(500, 7, 16);
    return learn_passed();
}
