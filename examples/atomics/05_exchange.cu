// atomicExch: puts a value in and takes out what was there, as one step. Here it makes a list: every thread puts itself
// at its head and remembers whom it displaced. Nobody is lost, and everybody displaced another.

#include "program.h"

enum { BLOCKS = 32, THREADS = 64, ALL = BLOCKS * THREADS, END = -1 };

// next: (ALL), the thread that stood at the head before this one
__global__ void push(int *head, int *next)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    next[me] = atomicExch(head, me);
}

// One thread walks down the list. Its order is another one each time, its length is not.
__global__ void walk(const int *head, const int *next, int *length)
{
    int steps = 0;
    for (int at = *head; at != END && steps <= ALL; at = next[at])
        steps++;
    *length = steps;
}

int main()
{
    static int next[ALL];
    int head = END, length = 0;
    int *card_head = (int *)to_card(&head, sizeof head), *card_next = (int *)to_card(next, sizeof next);
    int *card_length = (int *)to_card(&length, sizeof length);
    push<<<BLOCKS, THREADS>>>(card_head, card_next);
    walk<<<1, 1>>>(card_head, card_next, card_length);
    from_card(&length, card_length, sizeof length);
    CHECK(cudaFree(card_head));
    CHECK(cudaFree(card_next));
    expect("in the list", length, ALL);
    return wrong_results > 0;
}
