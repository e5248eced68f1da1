#include "learn.h"

#include "19.1-flash-inner-loop.cu"

static void attention_on_host(const float *query, const std::vector<float> &keys, const std::vector<float> &values,
                              float *out, int n)
{
    std::vector<double> scores(n, 0.0), result(SIZE, 0.0);
    double largest = -INFINITY, sum = 0;
    for (int k = 0; k < n; k++) {
        for (int d = 0; d < SIZE; d++)
            scores[k] += query[d] * keys[k * SIZE + d];
        largest = std::fmax(largest, scores[k]);
    }
    for (int k = 0; k < n; k++) {
        double weight = std::exp(scores[k] - largest);
        sum += weight;
        for (int d = 0; d < SIZE; d++)
            result[d] += weight * values[k * SIZE + d];
    }
    for (int d = 0; d < SIZE; d++)
        out[d] = (float)(result[d] / sum);
}

int main(void)
{
    struct {
        int rows, n;
        float factor; // of the queries: small scores, where all keys matter, and large ones
    } cases[] = {{1, 1, 1}, {3, 7, 0.0625f}, {40, 33, 0.03125f}, {5, 64, 4}};
    for (auto c : cases) {
        learn_case("%d queries, %d keys, queries times %g", c.rows, c.n, c.factor);
        std::vector<float> queries = learn_values<float>(c.rows * SIZE), keys = learn_values<float>(c.n * SIZE, 2);
        std::vector<float> values = learn_values<float>(c.n * SIZE, 3), expected(queries.size());
        for (float &value : queries)
            value *= c.factor;
        for (int row = 0; row < c.rows; row++)
            attention_on_host(&queries[row * SIZE], keys, values, &expected[row * SIZE], c.n);
        float *device_queries = learn_device(queries), *device_keys = learn_device(keys);
        float *device_values = learn_device(values), *out = learn_output<float>(expected.size());
        attention<<<(c.rows + 31) / 32, 32>>>(device_queries, device_keys, device_values, out, c.rows, c.n);
        learn_expect("out", out, expected, 1e-4);
    }
    return learn_passed();
}
