// What a float consists of: 1 bit sign, 8 bits exponent, 23 bits fraction, from the highest bit to the lowest.
//
// memcpy copies bytes and asks no questions about types; compilers turn it into one register move. A union of a float
// and a uint32_t does the same in C. Above the exponent there is still the sign, so the shift alone is not enough.

#include <stdint.h>
#include <string.h>

uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

int exponent_of(float value)
{
    return (int)(bits_of(value) >> 23 & 0xff);
}
