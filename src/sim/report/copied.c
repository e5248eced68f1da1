// Hashes and sums of what the host was given.
#include "report/copied.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sim_copied *copies;
static size_t copy_count, copy_room;

void sim_copied_begin(sim_copied *copied)
{
    *copied =
        (sim_copied){.hash = 0xcbf29ce484222325, .zero = true, .singles = {.fits = true}, .doubles = {.fits = true}};
}

// FNV-1a over words of eight bytes, then the rest byte by byte.
static uint64_t hash_of(uint64_t hash, const uint8_t *bytes, size_t count)
{
    const uint64_t prime = 0x100000001b3;
    for (; count >= sizeof(uint64_t); count -= sizeof(uint64_t), bytes += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 32;
    }
    for (; count > 0; count--)
        hash = (hash ^ *bytes++) * prime;
    return hash;
}

// From 1 to 2, different from place to place, so that elements which change places change the sum.
static double weight_of(size_t place)
{
    const uint32_t golden = 2654435769u; // 2^32 over the golden ratio: neighbours lie far apart
    return 1 + (double)((uint32_t)place * golden) * 0x1p-32;
}

// Integers and pointers read as floating point are mostly far out of the range that results lie in.
static bool looks_real(double value)
{
    const double least = 1e-30, most = 1e30;
    return value == 0 || (fabs(value) > least && fabs(value) < most);
}

static void add_value(sim_copied_sum *sum, double value)
{
    const double weighted = weight_of(sum->place++) * value;
    sum->fits = sum->fits && looks_real(value);
    sum->sum += weighted;
    sum->magnitude += fabs(weighted);
}

static void add_singles(sim_copied_sum *sum, const uint8_t *bytes, size_t count)
{
    sum->fits = sum->fits && count % sizeof(float) == 0;
    for (size_t i = 0; sum->fits && i < count; i += sizeof(float)) {
        float value;
        memcpy(&value, bytes + i, sizeof value);
        add_value(sum, value);
    }
}

static void add_doubles(sim_copied_sum *sum, const uint8_t *bytes, size_t count)
{
    sum->fits = sum->fits && count % sizeof(double) == 0;
    for (size_t i = 0; sum->fits && i < count; i += sizeof(double)) {
        double value;
        memcpy(&value, bytes + i, sizeof value);
        add_value(sum, value);
    }
}

void sim_copied_add(sim_copied *copied, const uint8_t *bytes, size_t count, bool sums)
{
    copied->hash = hash_of(copied->hash, bytes, count);
    copied->bytes += count;
    copied->zero = copied->zero && count > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
    copied->singles.fits = copied->singles.fits && sums;
    copied->doubles.fits = copied->doubles.fits && sums;
    add_singles(&copied->singles, bytes, count);
    add_doubles(&copied->doubles, bytes, count);
}

void sim_copied_keep(const sim_copied *copied)
{
    enum { FIRST_ROOM = 64 };
    if (copy_count == copy_room) {
        const size_t room = copy_room == 0 ? FIRST_ROOM : 2 * copy_room;
        sim_copied *larger = realloc(copies, room * sizeof *larger);
        if (larger == NULL)
            return;
        copies = larger;
        copy_room = room;
    }
    size_t place = copy_count++;
    for (; place > 0 && copies[place - 1].submitted > copied->submitted; place--)
        copies[place] = copies[place - 1];
    copies[place] = *copied;
}

const sim_copied *sim_copied_all(size_t *count)
{
    *count = copy_count;
    return copies;
}

bool sim_copied_by_several(void)
{
    for (size_t i = 1; i < copy_count; i++) {
        if (copies[i].thread != copies[0].thread)
            return true;
    }
    return false;
}
