#include "learn.h"

#define cudaMemcpy(to, from, bytes, kind) (learn_refuse_addresses(to, from), cudaMemcpy(to, from, bytes, kind))
#include "05.6-wrong-way.cu"
#undef cudaMemcpy

// A copy of n bytes, where n is the number of balances, leaves most of the array as it was. No result ends with the
// last byte of the poison.
static void require_all_bytes(const std::vector<int> &cents, const std::vector<int> &before)
{
    const unsigned char *found = (const unsigned char *)cents.data(), *old = (const unsigned char *)before.data();
    size_t bytes = cents.size() * sizeof(int), copied = bytes;
    while (copied > 0 && found[copied - 1] == old[copied - 1])
        copied--;
    learn_require(copied == 0 || copied == bytes, "only %zu of the %zu bytes of cents were copied", copied, bytes);
}

int main(void)
{
    for (int n : {3, 1, 128, 301}) {
        int rate = 109;
        learn_case("%d balance%s", n, n == 1 ? "" : "s");
        std::vector<int> euros = learn_values<int>(n), cents(n), expected(n);
        for (int i = 0; i < n; i++) {
            euros[i] += 10 + i;
            expected[i] = euros[i] * rate;
        }
        learn_poison(cents.data(), n);
        std::vector<int> before = cents;
        convert_on_gpu(euros.data(), cents.data(), rate, n);
        learn_wait();
        require_all_bytes(cents, before);
        learn_expect_host("cents", cents, expected);
    }
    return learn_passed();
}
