#include "learn_c.h"

#include "03.1-swap-pointers.c"

int main(void)
{
    learn_case("swap(&bread, &cake)");
    int bread = 320, cake = 450;
    swap(&bread, &cake);
    learn_expect_int("bread", bread, 450);
    learn_expect_int("cake", cake, 320);

    learn_case("swap of two elements of an array");
    int prices[] = {1, 2, 3, 4};
    swap(&prices[0], &prices[3]);
    learn_expect_ints("prices", prices, (const int[]){4, 2, 3, 1}, 4);

    learn_case("swap of a variable with itself");
    swap(&bread, &bread);
    learn_expect_int("bread", bread, 450);
    return learn_passed();
}
