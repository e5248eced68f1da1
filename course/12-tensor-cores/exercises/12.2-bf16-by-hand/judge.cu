#include "learn.h"

#include "12.2-bf16-by-hand.cu"

// The nearest bfloat16 by search: the one below, the one above, and the smaller distance.
static unsigned short nearest(uint32_t bits)
{
    uint32_t down = bits & 0xffff0000u, up = down + 0x10000u;
    uint32_t below = bits - down, above = up - bits;
    bool take_up = above < below || (above == below && (up >> 16) % 2 == 0);
    return (unsigned short)((take_up ? up : down) >> 16);
}

int main(void)
{
    std::vector<uint32_t> bits = {0x00000000, 0x80000000, 0x3f800000, 0x3f807fff, 0x3f808000, 0x3f808001, 0x3f818000,
                                  0x3f817fff, 0x3f818001, 0xbf808000, 0xbf818000, 0x3fffffff, 0x7f7fffff, 0x7f7f7fff,
                                  0xff7fffff, 0x7f800000, 0xff800000, 0x00000001, 0x00008001, 0x42280000};
    for (uint32_t i = 1; i < 500; i++) {
        bits.push_back(i * 2654435761u % 0x7f800000u);
        bits.push_back(0x80000000u + i * 40503u * 65537u % 0x7f800000u);
    }
    std::vector<float> in(bits.size());
    std::vector<unsigned short> expected(bits.size());
    memcpy(in.data(), bits.data(), bits.size() * sizeof(float));
    for (size_t i = 0; i < bits.size(); i++)
        expected[i] = nearest(bits[i]);

    learn_case("zeros, ties, infinities and %zu others", bits.size() - 18);
    float *device_in = learn_device(in);
    unsigned short *device_out = learn_output<unsigned short>(in.size());
    learn_threads_1d(128);
    to_bfloat16<<<(in.size() + 127) / 128, 128>>>(device_in, device_out, (int)in.size());
    learn_expect("out", device_out, expected);

    learn_case("NaN");
    std::vector<uint32_t> nan_bits = {0x7f800001, 0x7fffffff, 0xff80ffff, 0xffffffff, 0x7fc00000};
    int count = (int)nan_bits.size();
    std::vector<unsigned short> found(count);
    device_in = (float *)learn_device(nan_bits);
    device_out = learn_output<unsigned short>(count);
    to_bfloat16<<<1, 128>>>(device_in, device_out, count);
    learn_wait();
    cudaMemcpy(found.data(), device_out, count * sizeof(unsigned short), cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++)
        learn_require((found[i] & 0x7fff) > 0x7f80, "the NaN with the bits 0x%08x became 0x%04x, which is not a NaN",
                      nan_bits[i], found[i]);
    return learn_passed();
}
