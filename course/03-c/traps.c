// Four lines that surprise people, each with what really happens.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SQUARE_WRONG(x) x *x
#define SQUARE(x)       ((x) * (x))

int main(void)
{
    size_t zero = 0;
    printf("0 - 1 as size_t: %zu\n", zero - 1); // unsigned numbers wrap around
    printf("100000 * 100000 in 64 bits: %lld\n", 100000LL * 100000);
    printf("SQUARE_WRONG(2 + 1) = %d, SQUARE(2 + 1) = %d\n", SQUARE_WRONG(2 + 1), SQUARE(2 + 1));
    float one = 1;
    uint32_t bits;
    memcpy(&bits, &one, sizeof bits); // the bytes of a float, without breaking the rules on types
    printf("the bits of 1.0f: 0x%08" PRIx32 "\n", bits);
    return 0;
}
