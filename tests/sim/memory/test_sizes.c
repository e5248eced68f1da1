// Cards of other sizes: with more memory than there are addresses, and with so much that a wrong index stays in range.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory/memory.h"

static const size_t card = (size_t)8 << 30;

// As `ulimit -v` does: this many bytes of addresses more than are in use.
static void leave_addresses(size_t bytes)
{
    size_t pages = 0;
    FILE *sizes = fopen("/proc/self/statm", "r");
    assert_true(sizes != NULL && fscanf(sizes, "%zu", &pages) == 1 && fclose(sizes) == 0);
    const rlim_t limit = pages * (size_t)sysconf(_SC_PAGESIZE) + bytes;
    assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit}), 0);
}

static void a_card_gets_a_share_of_the_addresses_where_they_are_scarce(void **state)
{
    (void)state;
    const size_t left = (size_t)3 << 30;
    const pid_t child = fork();
    if (child == 0) {
        leave_addresses(left);
        sim_memory_start(card);
        const bool share = sim_memory_span >= left / 8 && sim_memory_span <= left / 4;
        void *some = sim_memory_allocate(1 << 20, SIM_MEMORY_DEVICE, 1, "some");
        void *others = malloc(left / 4); // and others have room as well
        _exit(share && some && others && sim_memory_total() == card ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void a_negative_index_of_32_bits_is_told_from_a_large_one(void **state)
{
    (void)state;
    sim_memory_start(card);
    const size_t wraps = (size_t)1 << 32; // an index that is unsigned by mistake, of bytes
    sim_extent gone;
    sim_allocation found;
    assert_false(sim_memory_meant(sim_memory_base, 1, &found)); // there is nothing yet
    uintptr_t a = (uintptr_t)sim_memory_allocate(1000, SIM_MEMORY_DEVICE, 1, "a"),
              b = (uintptr_t)sim_memory_allocate(1000, SIM_MEMORY_DEVICE, 2, "b");
    assert_true(sim_memory_meant(a + wraps - 1, 1, &found) && found.start == a);
    assert_true(sim_memory_meant(b + 500 + wraps, 1, &found) && found.start == b);
    assert_true(sim_memory_meant(a + 3 * wraps - 1, 1, &found) && found.start == b); // the nearest
    assert_true(sim_memory_meant(b + 2000, 1, &found) && found.start == b);          // in the gap behind it
    assert_true(sim_memory_meant(a + 1001, 1, &found) && found.start == a);
    assert_true(sim_memory_release(a, 3, &gone));
    assert_true(sim_memory_meant(a + wraps, 1, &found) && found.start == b); // a is no more
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_gets_a_share_of_the_addresses_where_they_are_scarce),
        cmocka_unit_test(a_negative_index_of_32_bits_is_told_from_a_large_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
