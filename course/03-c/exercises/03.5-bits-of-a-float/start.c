// What a float consists of: 1 bit sign, 8 bits exponent, 23 bits fraction, from the highest bit to the lowest.

#include <stdint.h>
#include <string.h>

uint32_t bits_of(float value)
{
    return (uint32_t)value; // TODO: the bits, not the number
}

int exponent_of(float value)
{
    return (int)(bits_of(value) >> 23); // TODO: what else is in these bits?
}
