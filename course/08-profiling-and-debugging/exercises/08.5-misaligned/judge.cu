#include "learn.h"

#include "08.5-misaligned.cu"

int main(void)
{
    const int selections[][2] = {{0, 32}, {5, 20}, {3, 1}, {1, 2}, {6, 3}, {7, 1001}, {2, 1000}, {4, 999}};
    for (const int *selection : selections) {
        int first = selection[0], count = selection[1], n = first + count + 3;
        learn_case("%d sample%s, from sample %d on", count, count == 1 ? "" : "s", first);
        std::vector<float> samples = learn_values<float>(n), expected = samples;
        for (int i = first; i < first + count; i++)
            expected[i] *= 3;
        float *device = learn_device(samples);
        amplify<<<1, 32>>>(device, first, count, 3);
        learn_expect("samples", device, expected);
    }
    return learn_passed();
}
