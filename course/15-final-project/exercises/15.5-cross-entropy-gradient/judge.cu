#include "learn.h"

#include "15.5-cross-entropy-gradient.cu"

int main(void)
{
    struct {
        int rows, classes;
        float factor;
    } cases[] = {{1, 1, 1}, {3, 10, 1}, {70, 10, 0.25f}, {5, 13, 120}};
    for (auto c : cases) {
        learn_case("rows = %d, classes = %d, scores up to %g", c.rows, c.classes, 8 * c.factor);
        std::vector<float> x = learn_values<float>(c.rows * c.classes), expected(x.size());
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
            for (int j = 0; j < c.classes; j++)
                expected[row * c.classes + j] =
                    (float)((std::exp(scores[j] - largest) / sum - (j == labels[row])) / c.rows);
        }
        float *device_x = learn_device(x), *grad = learn_output<float>(x.size());
        int *device_labels = learn_device(labels);
        cross_entropy_gradient<<<(c.rows + 63) / 64, 64>>>(device_x, device_labels, grad, c.rows, c.classes);
        learn_expect("grad", grad, expected, 1e-6);
    }
    return learn_passed();
}
