#include "learn.h"

#include "09.5-thrust-reduce.cu"

int main(void)
{
    for (int n : {1, 8, 1000}) {
        learn_case("n = %d", n);
        std::vector<float> values = learn_values<float>(n, 7);
        float sum = 0; // quarters: exact in float, in any order
        for (float &value : values) {
            value = value / 4 + 0.75f;
            sum += value;
        }
        float found = mean(learn_device(values), n), expected = sum / n;
        learn_require(found == expected, "mean is %g, expected %g", found, expected);
    }
    return learn_passed();
}
