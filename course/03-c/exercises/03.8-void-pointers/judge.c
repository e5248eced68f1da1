#include "learn_c.h"

#include "03.8-void-pointers.c"

struct player {
    char name[8];
    int score;
};

static int compare_ints(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -7 : x > y ? 7 : 0;
}

static int compare_players(const void *a, const void *b)
{
    return compare_ints(&((const struct player *)a)->score, &((const struct player *)b)->score);
}

// Calls `largest` with a copy in memory of exactly the array's size, and returns the index of what it found.
static long long index_of_largest(const void *elements, size_t count, size_t size,
                                  int (*compare)(const void *, const void *))
{
    unsigned char *copy = malloc(count * size);
    memcpy(copy, elements, count * size);
    const unsigned char *found = largest(copy, count, size, compare);
    long long bytes = found == NULL ? -1 : found - copy;
    free(copy);
    learn_require(bytes >= 0 && bytes % (long long)size == 0, "largest did not return the address of an element");
    return bytes / (long long)size;
}

int main(void)
{
    learn_case("the prices 3, 9, 4");
    learn_expect_int("index of the largest", index_of_largest((int[]){3, 9, 4}, 3, sizeof(int), compare_ints), 1);
    learn_case("one price");
    learn_expect_int("index of the largest", index_of_largest((int[]){-5}, 1, sizeof(int), compare_ints), 0);
    learn_case("the temperatures -3.5, -1.25, -2, -1.25");
    const double temperatures[] = {-3.5, -1.25, -2, -1.25};
    learn_expect_int("index of the largest", index_of_largest(temperatures, 4, sizeof(double), compare_doubles), 1);
    learn_case("three players; the last has the best score");
    const struct player players[] = {{"Ada", 12}, {"Grace", 7}, {"Alan", 30}};
    learn_expect_int("index of the largest", index_of_largest(players, 3, sizeof(struct player), compare_players), 2);
    learn_case("no elements");
    learn_require(largest(temperatures, 0, sizeof(double), compare_doubles) == NULL, "largest of nothing is not NULL");
    return learn_passed();
}
