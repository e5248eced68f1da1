#include "learn_c.h"

#include "03.5-bits-of-a-float.c"

int main(void)
{
    const struct {
        float value;
        uint32_t bits;
        int exponent;
    } cases[] = {{1.0f, 0x3f800000, 127},  {2.0f, 0x40000000, 128},  {0.0f, 0, 0},
                 {-1.0f, 0xbf800000, 127}, {-0.0f, 0x80000000, 0},   {0.1f, 0x3dcccccd, 123},
                 {1e-40f, 0x000116c2, 0},  {-3e38f, 0xff61b1e6, 254}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        learn_case("value = %g", cases[i].value);
        uint32_t bits = bits_of(cases[i].value);
        learn_require(bits == cases[i].bits, "bits_of returned 0x%08x, expected 0x%08x", bits, cases[i].bits);
        learn_expect_int("exponent_of", exponent_of(cases[i].value), cases[i].exponent);
    }
    return learn_passed();
}
