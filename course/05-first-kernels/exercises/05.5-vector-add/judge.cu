#include "learn.h"

#include "05.5-vector-add.cu"

int main(void)
{
    for (int n : {5, 1, 256, 257, 3001}) {
        learn_case("n = %d", n);
        std::vector<float> voice = learn_values<float>(n, 1), music = learn_values<float>(n, 2), mix(n), expected(n);
        for (int i = 0; i < n; i++)
            expected[i] = voice[i] + music[i];
        learn_poison(mix.data(), n);
        mix_on_gpu(voice.data(), music.data(), mix.data(), n);
        learn_wait();
        learn_expect_host("mix", mix, expected);
    }
    return learn_passed();
}
