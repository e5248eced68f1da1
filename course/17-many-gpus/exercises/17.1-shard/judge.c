#include "learn_c.h"

#include "17.1-shard.c"

int main(void)
{
    int batches[] = {0, 1, 3, 10, 64, 127, 1000}, ranks[] = {1, 2, 3, 4, 7, 8};
    for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            int next = 0;
            for (int rank = 0; rank < ranks[r]; rank++) {
                int first = -1, count = -1;
                learn_case("%d images on %d ranks, rank %d", batches[b], ranks[r], rank);
                shard(batches[b], ranks[r], rank, &first, &count);
                learn_expect_int("count", count, batches[b] / ranks[r] + (rank < batches[b] % ranks[r]));
                learn_expect_int("first", first, next);
                next += count;
            }
            learn_expect_int("the number of images of all ranks together", next, batches[b]);
        }
    return learn_passed();
}
