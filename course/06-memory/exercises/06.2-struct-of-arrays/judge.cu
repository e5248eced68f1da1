#include "learn.h"

#include "06.2-struct-of-arrays.cu"

static void require_own_places(int capacity)
{
    std::vector<int> taken(FIELDS * capacity, -1); // by which field of which particle
    for (int i = 0; i < capacity; i++)
        for (int field = 0; field < FIELDS; field++) {
            int at = place(i, field, capacity);
            learn_require(at >= 0 && at < FIELDS * capacity, "place(%d, %d, %d) is %d, outside 0 … %d", i, field,
                          capacity, at, FIELDS * capacity - 1);
            learn_require(taken[at] < 0,
                          "place(%d, %d, %d) is %d, like place(%d, %d, %d). Each needs a place of its own.", i, field,
                          capacity, at, taken[at] / FIELDS, taken[at] % FIELDS, capacity);
            taken[at] = i * FIELDS + field;
        }
}

int main(void)
{
    const float seconds = 0.5f;
    for (int count : {1, 32, 101, 256}) {
        int capacity = (count + 31) / 32 * 32;
        learn_case("count = %d, capacity = %d", count, capacity);
        require_own_places(capacity);
        std::vector<float> values = learn_values<float>(FIELDS * capacity), before(values.size());
        for (int i = 0; i < capacity; i++)
            for (int field = 0; field < FIELDS; field++)
                before[place(i, field, capacity)] = values[i * FIELDS + field];
        std::vector<float> expected = before;
        for (int i = 0; i < count; i++)
            for (int axis = X; axis <= Z; axis++)
                expected[place(i, axis, capacity)] =
                    values[i * FIELDS + axis] + seconds * values[i * FIELDS + axis + VELOCITY_X];
        float *particles = learn_device(before);
        move<<<(count + 127) / 128, 128>>>(particles, count, capacity, seconds);
        learn_expect("particles", particles, expected);
    }
    return learn_passed();
}
