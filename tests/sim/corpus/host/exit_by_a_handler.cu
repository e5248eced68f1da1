// A signal handler ends the program by exit: what is queued is not run, for the handler may have interrupted a call of
// CUDA.
#include "../corpus.h"
#include <csignal>
#include <cstdlib>

__device__ int cell;

__global__ void never_run()
{
    (&cell)[1 << 20] = 1;
}

int main()
{
    std::signal(SIGUSR1, [](int) { std::exit(0); });
    never_run<<<1, 1>>>();
    std::raise(SIGUSR1);
    return 1;
}
