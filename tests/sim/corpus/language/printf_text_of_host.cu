// Text in host memory that a kernel prints: a literal, and what a string holds.
#include <string>

#include "../corpus.h"

__global__ void print_literal(const char *text)
{
    printf("[%s]\n", text); // expect: host-pointer
}

__global__ void print(const char *text)
{
    printf("[%s]\n", text); // expect: host-pointer
}

int main()
{
    std::string text(40, 'x');
    print_literal<<<1, 1>>>("a literal of the host");
    SHOW(cudaDeviceSynchronize());
    print<<<1, 1>>>(text.c_str());
    SHOW(cudaDeviceSynchronize());
    return 0;
}
