#include "learn.h"

#include "05.8-wrong-way.cu"

int main(void)
{
    for (int n : {3, 1, 128, 301}) {
        int rate = 109;
        learn_case("%d balance%s", n, n == 1 ? "" : "s");
        std::vector<int> euros = learn_values<int>(n), dollars(n), expected(n);
        for (int i = 0; i < n; i++) {
            euros[i] = 100 * (euros[i] + 10 + i);
            expected[i] = euros[i] / 100 * rate;
        }
        learn_poison(dollars.data(), n);
        convert_on_gpu(euros.data(), dollars.data(), rate, n);
        learn_wait();
        learn_expect_host("dollars", dollars, expected);
    }
    return learn_passed();
}
