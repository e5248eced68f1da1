#include "learn.h"

#include "06.13-unified.cu"

int main(void)
{
    for (int n : {1, 64, 200}) {
        float expected = 0; // at most 2,646,700, which float holds exactly
        learn_case("n = %d", n);
        for (int i = 0; i < n; i++)
            expected += i * i;
        float found = sum_of_squares(n);
        learn_require(found == expected, "sum_of_squares(%d) is %g, expected %g", n, found, expected);
    }
    return learn_passed();
}
