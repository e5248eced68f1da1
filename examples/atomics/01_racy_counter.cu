// Many threads add 1 to one counter, and nearly all of it is lost. `counter[0]++` is three steps, a load, an addition
// and a store; threads that load before another has stored all store the same number.
//
//     heddle check examples/atomics/01_racy_counter.cu          names the line, and two threads that meet there
//     nvcc examples/atomics/01_racy_counter.cu && ./a.out       on a card: a count that is far too small
//
// 02_add_and_sub.cu counts right.

#include "program.h"

enum { BLOCKS = 64, THREADS = 128 };

__global__ void count(int *counter)
{
    counter[0]++; // wrong: race
}

int main()
{
    int counter = 0;
    int *card = (int *)to_card(&counter, sizeof counter);
    count<<<BLOCKS, THREADS>>>(card);
    from_card(&counter, card, sizeof counter);
    expect("counted", counter, BLOCKS * THREADS);
    return wrong_results > 0;
}
