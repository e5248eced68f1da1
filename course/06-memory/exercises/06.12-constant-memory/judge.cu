#include "learn.h"

// How much of the constant variable is filled, to tell a size that is too small from a wrong formula.
static size_t filled;
static const char *variable_name;
static size_t variable_bytes;
static int filled_at; // line of the learner's file

static void note_fill(const char *name, size_t all, size_t bytes, int line)
{
    variable_name = name;
    variable_bytes = all;
    filled += bytes;
    filled_at = line;
}

#define cudaMemcpyToSymbol(variable, from, bytes, ...)                                                                 \
    (note_fill(#variable, sizeof(variable), bytes, __LINE__), cudaMemcpyToSymbol(variable, from, bytes, ##__VA_ARGS__))
#include "06.12-constant-memory.cu"
#undef cudaMemcpyToSymbol

// Says why y is wrong, where the constant variable is the reason.
static void require_filled(const float *device_y, const std::vector<float> &y)
{
    std::vector<float> found(y.size());
    learn_wait();
    cudaMemcpy(found.data(), device_y, found.size() * sizeof(float), cudaMemcpyDeviceToHost);
    if (found == y)
        return;
    learn_require(filled > 0, "y is wrong, and cudaMemcpyToSymbol was never called: nothing fills the constant array");
    learn_require(filled >= variable_bytes,
                  "line %d fills only %zu of the %zu bytes of `%s`. `sizeof` of a pointer is the size of the pointer, "
                  "not of what it points to.",
                  filled_at, filled, variable_bytes, variable_name);
}

// The limit in judge.json: one load per element, 1 + 127 + 300 = 428.
int main(void)
{
    for (int n : {1, 127, 300}) {
        learn_case("n = %d", n);
        std::vector<float> x = learn_values<float>(n), y(n), c = learn_values<float>(COEFFICIENTS, n);
        for (int i = 0; i < n; i++)
            for (int power = COEFFICIENTS - 1; power >= 0; power--)
                y[i] = y[i] * x[i] + c[power];
        float *device_x = learn_device(x), *device_y = learn_output<float>(n);
        filled = 0;
        evaluate(c.data(), device_x, device_y, n);
        require_filled(device_y, y);
        learn_expect("y", device_y, y);
    }
    return learn_passed();
}
