#include "learn.h"

#include "05.4-hello.cu"

int main(void)
{
    learn_case("2 blocks of 3 threads");
    hello<<<2, 3>>>(learn_device(std::vector<int>{1, 4, 9, 16, 25, 36}));
    return learn_passed();
}
