// The one copy that SIM_COPY=NUMBER.NTH:FILE asks about: the nth of those that operation NUMBER makes.
#define _GNU_SOURCE 1
#include "report/differing.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "findings/finding.h"
#include "machine/options.h"
#include "race/last.h"
#include "watch/watch.h"

typedef struct row {
    const uint8_t *from;
    size_t start, bytes; // in `bytes` below
} row;

static struct {
    bool on;
    unsigned long long number;
    unsigned nth;
    const char *path;
} wanted;

static struct {
    unsigned seen; // copies of the operation that have ended
    uint8_t *bytes;
    row *rows;
    size_t used, room, row_count, row_room;
} copy;

static void read_option(void)
{
    const char *text = sim_options_get()->copy;
    char *end = NULL;
    if (!text)
        return;
    wanted.number = strtoull(text, &end, 10);
    if (end == text || *end != '.')
        return;
    const char *nth = end + 1;
    wanted.nth = (unsigned)strtoul(nth, &end, 10);
    wanted.on = end != nth && *end == ':';
    wanted.path = end + 1;
}

static bool is_wanted(uint64_t submitted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_option);
    return wanted.on && submitted == wanted.number && copy.seen == wanted.nth;
}

static bool make_room(void **array, size_t needed, size_t *room, size_t size)
{
    enum { FIRST_ROOM = 64 };
    size_t more = *room ? *room : FIRST_ROOM;
    while (more < needed)
        more *= 2;
    void *moved = more > *room ? realloc(*array, more * size) : *array;
    if (!moved)
        return false;
    *array = moved;
    *room = more;
    return true;
}

void sim_differing_row(uint64_t submitted, const uint8_t *from, size_t bytes)
{
    void *rows = copy.rows, *kept = copy.bytes;
    if (!is_wanted(submitted) || !make_room(&rows, copy.row_count + 1, &copy.row_room, sizeof(row)))
        return;
    copy.rows = rows;
    if (!make_room(&kept, copy.used + bytes, &copy.room, 1))
        return;
    copy.bytes = kept;
    copy.rows[copy.row_count++] = (row){from, copy.used, bytes};
    memcpy(copy.bytes + copy.used, from, bytes);
    copy.used += bytes;
}

static uintptr_t address_of(size_t offset)
{
    for (size_t i = 0; i < copy.row_count; i++)
        if (offset - copy.rows[i].start < copy.rows[i].bytes)
            return (uintptr_t)copy.rows[i].from + (offset - copy.rows[i].start);
    return 0;
}

static void write_number(char *text, size_t size, const uint8_t *at, size_t bytes, sim_copied_type type)
{
    float single;
    double two;
    int32_t whole;
    memcpy(&single, at, sizeof single < bytes ? sizeof single : bytes);
    memcpy(&two, at, sizeof two < bytes ? sizeof two : bytes);
    memcpy(&whole, at, sizeof whole < bytes ? sizeof whole : bytes);
    if (type == SIM_COPIED_FLOATS)
        snprintf(text, size, "%.7g", single);
    else if (type == SIM_COPIED_DOUBLES)
        snprintf(text, size, "%.15g", two);
    else
        snprintf(text, size, "%d", bytes == 1 ? *at : whole);
}

// An integer in one of the runs may be 0 in the other, which is a number of any type.
static bool is_integer(const uint8_t *at)
{
    float single;
    memcpy(&single, at, sizeof single);
    return fpclassify(single) == FP_SUBNORMAL;
}

static size_t size_of(sim_copied_type type)
{
    if (type == SIM_COPIED_DOUBLES)
        return sizeof(double);
    return type == SIM_COPIED_FLOATS || copy.used % sizeof(int32_t) == 0 ? sizeof(int32_t) : 1;
}

static void compare(const uint8_t *other, uintptr_t pc, sim_copied_type type)
{
    size_t size = size_of(type), differ = 0, first = 0;
    for (size_t at = 0; at + size <= copy.used; at += size)
        if (memcmp(copy.bytes + at, other + at, size) != 0 && differ++ == 0)
            first = at;
    if (differ == 0)
        return;
    char there[40], here[40];
    if (type == SIM_COPIED_FLOATS && (is_integer(other + first) || is_integer(copy.bytes + first)))
        type = SIM_COPIED_BYTES;
    write_number(there, sizeof there, other + first, size, type);
    write_number(here, sizeof here, copy.bytes + first, size, type);
    sim_finding finding = {.kind = SIM_ORDER_DEPENDENT,
                           .tier = SIM_WARNING,
                           .address = address_of(first),
                           .bytes = size,
                           .place[0] = {.pc = pc, .role = "copy"}};
    sim_last_write(finding.address, &finding.place[1], &finding.kernel);
    snprintf(finding.message, sizeof finding.message,
             "%zu of its %zu elements, the first of them element %zu, which is %s in the one and %s in the other",
             differ, copy.used / size, first / size, there, here);
    sim_report(&finding);
}

static void save(void)
{
    FILE *file = fopen(wanted.path, "wb");
    bool saved = file && fwrite(copy.bytes, 1, copy.used, file) == copy.used;
    if (file && (fclose(file) != 0 || !saved))
        unlink(wanted.path);
}

void sim_differing_end(uint64_t submitted, uintptr_t pc, sim_copied_type type)
{
    if (!is_wanted(submitted)) {
        copy.seen += wanted.on && submitted == wanted.number;
        return;
    }
    copy.seen++;
    struct stat status;
    int descriptor = open(wanted.path, O_RDONLY | O_CLOEXEC);
    bool same_size = descriptor >= 0 && fstat(descriptor, &status) == 0 && (size_t)status.st_size == copy.used;
    void *other =
        same_size && copy.used > 0 ? mmap(NULL, copy.used, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
    if (other != MAP_FAILED) {
        compare(other, pc, type);
        munmap(other, copy.used);
    }
    if (descriptor >= 0)
        close(descriptor);
    else
        save();
}
