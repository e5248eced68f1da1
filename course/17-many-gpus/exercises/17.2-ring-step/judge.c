#include "learn_c.h"

#include "17.2-ring-step.c"

enum { MOST = 7 };

typedef int (*chunk_of)(int rank, int step, int ranks);

static int checked(chunk_of function, const char *name, int rank, int step, int ranks)
{
    int chunk = function(rank, step, ranks);
    learn_require(chunk >= 0 && chunk < ranks, "%s of rank %d in step %d is chunk %d, which is not one of 0 to %d",
                  name, rank, step, chunk, ranks - 1);
    return chunk;
}

// One half: all ranks send what they have before the step, and then receive.
static void half(long long data[MOST][MOST], int ranks, chunk_of sends, const char *sends_name, chunk_of receives,
                 const char *receives_name, bool add)
{
    for (int step = 0; step < ranks - 1; step++) {
        long long before[MOST][MOST];
        memcpy(before, data, sizeof before);
        for (int rank = 0; rank < ranks; rank++) {
            int left = (rank + ranks - 1) % ranks;
            int sent = checked(sends, sends_name, left, step, ranks);
            int received = checked(receives, receives_name, rank, step, ranks);
            learn_require(sent == received,
                          "in step %d, rank %d expects chunk %d (%s), but its left neighbour sends %d", step, rank,
                          received, receives_name, sent);
            data[rank][received] = before[left][sent] + (add ? data[rank][received] : 0);
        }
    }
}

int main(void)
{
    for (int ranks = 1; ranks <= MOST; ranks++) {
        long long data[MOST][MOST], sum[MOST] = {0};
        learn_case("%d ranks", ranks);
        for (int rank = 0; rank < ranks; rank++)
            for (int chunk = 0; chunk < ranks; chunk++)
                sum[chunk] += data[rank][chunk] = (chunk + 1) * (1LL << (3 * rank));
        half(data, ranks, reduce_sends, "reduce_sends", reduce_receives, "reduce_receives", true);
        for (int rank = 0; rank < ranks; rank++)
            learn_require(data[rank][(rank + 1) % ranks] == sum[(rank + 1) % ranks],
                          "after the first half, rank %d does not have the sum of chunk %d", rank, (rank + 1) % ranks);
        half(data, ranks, gather_sends, "gather_sends", gather_receives, "gather_receives", false);
        for (int rank = 0; rank < ranks; rank++)
            for (int chunk = 0; chunk < ranks; chunk++)
                learn_require(data[rank][chunk] == sum[chunk], "at the end, rank %d does not have the sum of chunk %d",
                              rank, chunk);
    }
    return learn_passed();
}
