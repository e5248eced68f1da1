// atomicOr, atomicAnd and atomicXor: sets of up to 32 (or 64) members in a word. Or puts one in, and takes one out
// (with all bits but its own), xor turns it over: done twice by all threads together it leaves what was there.

#include "program.h"

enum { BLOCKS = 16, THREADS = 64, ALL = BLOCKS * THREADS, BITS = 32, WORDS = ALL / BITS };

// A bit a thread: thread i has bit i % 32 of word i / 32.
__global__ void change(unsigned *put_in, unsigned *taken_out, unsigned *turned, unsigned *parity)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, word = i / BITS;
    unsigned bit = 1u << i % BITS;
    if (i % 3 == 0)
        atomicOr(&put_in[word], bit);
    if (i % 3 == 0)
        atomicAnd(&taken_out[word], ~bit);
    atomicXor(&turned[word], bit);
    atomicXor(&turned[word], bit);
    atomicXor(parity, (unsigned)i); // of all numbers from 0 to ALL - 1: every bit is in half of them, an even number
}

int main()
{
    unsigned put_in[WORDS] = {0}, taken_out[WORDS], turned[WORDS], parity = 0x12345678;
    int right_in = 0, right_out = 0, right_turned = 0;
    for (int w = 0; w < WORDS; w++) {
        taken_out[w] = 0xffffffff;
        turned[w] = 0xf0f0f0f0;
    }
    unsigned *card_in = (unsigned *)to_card(put_in, sizeof put_in);
    unsigned *card_out = (unsigned *)to_card(taken_out, sizeof taken_out);
    unsigned *card_turned = (unsigned *)to_card(turned, sizeof turned);
    unsigned *card_parity = (unsigned *)to_card(&parity, sizeof parity);
    change<<<BLOCKS, THREADS>>>(card_in, card_out, card_turned, card_parity);
    from_card(put_in, card_in, sizeof put_in);
    from_card(taken_out, card_out, sizeof taken_out);
    from_card(turned, card_turned, sizeof turned);
    from_card(&parity, card_parity, sizeof parity);
    for (int i = 0; i < ALL; i++) {
        right_in += (put_in[i / BITS] >> i % BITS & 1) == (i % 3 == 0);
        right_out += (taken_out[i / BITS] >> i % BITS & 1) == (i % 3 != 0);
        right_turned += (turned[i / BITS] >> i % BITS & 1) == (i % 8 >= 4);
    }
    expect("right bits put in", right_in, ALL);
    expect("right bits taken out", right_out, ALL);
    expect("right bits turned twice", right_turned, ALL);
    expect("parity as before", parity, 0x12345678);
    return wrong_results > 0;
}
