#include "learn.h"

#include "19.2-two-of-four.cu"

#include <algorithm>

int main(void)
{
    for (int groups : {1, 32, 503}) {
        learn_case("%d groups", groups);
        std::vector<float> weights = learn_values<float>(4 * groups), kept;
        std::vector<unsigned char> places;
        for (int group = 0; group < groups; group++) {
            const float *four = &weights[4 * group];
            std::vector<int> order = {0, 1, 2, 3};
            std::stable_sort(order.begin(), order.end(),
                             [four](int a, int b) { return std::fabs(four[a]) > std::fabs(four[b]); });
            int first = std::min(order[0], order[1]), second = std::max(order[0], order[1]);
            kept.push_back(four[first]);
            kept.push_back(four[second]);
            places.push_back((unsigned char)(first + 4 * second));
        }
        float *device_weights = learn_device(weights), *device_kept = learn_output<float>(kept.size());
        unsigned char *device_places = learn_output(places);
        keep_two<<<(groups + 63) / 64, 64>>>(device_weights, device_kept, device_places, groups);
        learn_expect("kept", device_kept, kept);
        learn_expect("places", device_places, places);
    }
    return learn_passed();
}
