#include "learn.h"

#include "13.3-softmax-cross-entropy.cu"

int main(void)
{
    struct {
        int rows, classes;
        float factor;
    } cases[] = {{1, 1, 1}, {3, 10, 1}, {70, 10, 1}, {5, 13, 120}, {4, 101, 15}};
    for (auto c : cases) {
        learn_case("rows = %d, classes = %d, scores up to %g", c.rows, c.classes, 8 * c.factor);
        std::vector<float> x = learn_values<float>(c.rows * c.classes), expected(c.rows);
        std::vector<int> labels(c.rows);
        for (float &value : x)
            value *= c.factor;
        for (int row = 0; row < c.rows; row++) {
            const float *scores = &x[row * c.classes];
            double largest = scores[0], sum = 0;
            labels[row] = row * 7 % c.classes;
            for (int j = 0; j < c.classes; j++)
                largest = std::fmax(largest, (double)scores[j]);
            for (int j = 0; j < c.classes; j++)
                sum += std::exp(scores[j] - largest);
            expected[row] = (float)(std::log(sum) + largest - scores[labels[row]]);
        }
        float *device_x = learn_device(x), *probabilities = learn_output<float>(x.size());
        float *losses = learn_output<float>(c.rows);
        int *device_labels = learn_device(labels);
        cross_entropy<<<(c.rows + 63) / 64, 64>>>(device_x, device_labels, probabilities, losses, c.rows, c.classes);
        learn_expect("losses", losses, expected, 1e-5);
    }
    return learn_passed();
}
