#include "learn.h"

#include "05.8-device-function.cu"

int main(void)
{
    // Colours whose grey is a whole number: weights such as 0.299, which no float or double holds exactly, fall below
    // it.
    const unsigned char exact[] = {12, 122, 7, 16, 222, 43, 29, 5, 21, 45, 59, 8};
    for (int pixels : {1, 5, 64, 211}) {
        learn_case("%d pixel%s", pixels, pixels == 1 ? "" : "s");
        std::vector<unsigned char> colours(3 * pixels), host(pixels), expected(pixels);
        for (int i = 0; i < 3 * pixels; i++)
            colours[i] = pixels == 64 && i < (int)sizeof exact ? exact[i] : (unsigned char)(250 - i * 37 % 251);
        for (int i = 0; i < pixels; i++) {
            const unsigned char *pixel = &colours[3 * i];
            expected[i] = (unsigned char)((299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2]) / 1000);
            host[i] = grey_of(pixel);
        }
        unsigned char *device_colours = learn_device(colours), *device_grey = learn_output(expected);
        learn_expect_host("grey_of on the host: grey", host, expected);
        learn_threads_1d(64);
        to_grey<<<(pixels + 63) / 64, 64>>>(device_colours, device_grey, pixels);
        learn_expect("grey", device_grey, expected);
    }
    return learn_passed();
}
