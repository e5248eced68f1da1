#include "learn_c.h"

#include "03.6-macro-traps.c"

#define JUDGE(expression, expected)                                                                                    \
    do {                                                                                                               \
        learn_case("%s", #expression);                                                                                 \
        learn_expect_int(#expression, (expression), (expected));                                                       \
    } while (0)

int main(void)
{
    int width = 10, height = 3, small = 2, large = 9;
    JUDGE(AVERAGE(4, 8), 6);
    JUDGE(AVERAGE(width, height + 1) * 2, 14);
    JUDGE(60 / AVERAGE(4, 8), 10);
    JUDGE(AVERAGE(width & 3, height & 2), 2);
    JUDGE(PERCENT(1, 4), 25);
    JUDGE(PERCENT(1, 2 + 2), 25);
    JUDGE(PERCENT(height - 1, width), 20);
    JUDGE(100 / PERCENT(1, 4), 4);
    JUDGE(PERCENT(1 << 1, 1 << 3), 25);
    JUDGE(LARGER(small, large), 9);
    JUDGE(LARGER(large, small) + 1, 10);
    JUDGE(10 * LARGER(small, large), 90);
    JUDGE(LARGER(small & 1, large & 1), 1);
    JUDGE(LARGER(large & 1, small & 1), 1);
    JUDGE(LARGER(small, small ? 1 : 5), 2);
    return learn_passed();
}
