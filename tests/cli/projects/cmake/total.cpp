// Prints how many ones there are.
#include <cstdio>
#include <cstdlib>

int sum_of_ones(int count);

int main(int argc, char **argv)
{
    std::printf("%d\n", sum_of_ones(argc > 1 ? std::atoi(argv[1]) : 32));
    return 0;
}
