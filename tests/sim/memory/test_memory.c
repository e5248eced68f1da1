// The card's memory: random allocations and frees against a plain list, also when addresses have to be taken again.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "memory/memory.h"

static sim_extent gone;
static const size_t card = (size_t)1 << 30;

static int start_card(void **state)
{
    (void)state;
    sim_memory_start(card);
    return sim_memory_span >= card ? 0 : -1;
}

static void a_gap_lies_behind_every_allocation(void **state)
{
    (void)state;
    char *a = sim_memory_allocate(100, SIM_MEMORY_DEVICE, 1, "a"),
         *b = sim_memory_allocate(7, SIM_MEMORY_PINNED, 2, "b");
    sim_allocation found;
    assert_true((uintptr_t)b - (uintptr_t)a >= 100 + SIM_MEMORY_GAP);
    assert_true(sim_memory_find((uintptr_t)a + 99, &found));
    assert_int_equal(found.allocated_at, 1);
    assert_false(sim_memory_find((uintptr_t)a + 100, &found));
    assert_true(sim_memory_nearest((uintptr_t)a + 100, &found));
    assert_int_equal(found.allocated_at, 1);
    assert_true(sim_memory_nearest((uintptr_t)b - 4, &found)); // just before b is b's
    assert_int_equal(found.allocated_at, 2);
    assert_false(sim_memory_is_stale(&found, (uintptr_t)a + 200));
    assert_true(sim_memory_release((uintptr_t)a, 3, &gone));
    assert_true(sim_memory_release((uintptr_t)b, 3, &gone));
    assert_true(sim_memory_nearest((uintptr_t)a + 200, &found));
    assert_true(sim_memory_is_stale(&found, (uintptr_t)a + 200));
}

// Off by a row, or by the whole of it, is in nothing: not in the next allocation, nor in the one before.
static void an_index_off_by_the_whole_size_is_in_nothing(void **state)
{
    (void)state;
    const size_t sizes[] = {4, 1000, 65536, 3 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t bytes = sizes[i], used = sim_memory_used();
        uintptr_t a = (uintptr_t)sim_memory_allocate(bytes, SIM_MEMORY_DEVICE, 1, "a"),
                  b = (uintptr_t)sim_memory_allocate(bytes, SIM_MEMORY_DEVICE, 2, "b");
        sim_allocation found;
        assert_false(sim_memory_find(a + bytes, &found));
        assert_false(sim_memory_find(a + 2 * bytes - 1, &found));
        assert_false(sim_memory_find(a + bytes + 4096, &found));
        assert_true(sim_memory_nearest(a + 2 * bytes - 1, &found)); // and is a's for all that
        assert_int_equal(found.allocated_at, 1);
        assert_true(sim_memory_nearest(b - 4096, &found)); // a row before b is b's
        assert_int_equal(found.allocated_at, 2);
        assert_int_equal(b % SIM_MEMORY_GAP, 0);
        assert_true(sim_memory_used() - used < 2 * (bytes + SIM_MEMORY_GAP)); // gaps are no memory of the card
        assert_true(sim_memory_release(a, 3, &gone));
        assert_true(sim_memory_release(b, 3, &gone));
        assert_int_equal(sim_memory_used(), used);
    }
}

// More than can have wide gaps: they lie closer together, and none is refused before the card is full.
static void very_many_small_allocations_lie_close(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static uintptr_t starts[MANY];
    for (int i = 0; i < MANY; i++) {
        starts[i] = (uintptr_t)sim_memory_allocate(16, SIM_MEMORY_DEVICE, 1, "one of many");
        assert_true(starts[i] != 0 && (i == 0 || starts[i] >= starts[i - 1] + 16 + SIM_MEMORY_GAP));
    }
    assert_true(starts[MANY - 1] - starts[MANY - 1001] < (uintptr_t)1000 * 4096);
    for (int i = 0; i < MANY; i++)
        assert_true(sim_memory_release(starts[i], 2, &gone));
    uintptr_t one = (uintptr_t)sim_memory_allocate(16, SIM_MEMORY_DEVICE, 1, "later"),
              next = (uintptr_t)sim_memory_allocate(16, SIM_MEMORY_DEVICE, 1, "and later");
    assert_true(next - one > SIM_MEMORY_WIDE_GAP);
    assert_true(sim_memory_release(one, 2, &gone));
    assert_true(sim_memory_release(next, 2, &gone));
}

static void freed_memory_is_known_as_freed(void **state)
{
    (void)state;
    char *a = sim_memory_allocate(5000, SIM_MEMORY_DEVICE, 1, "a");
    memset(a, 1, 5000);
    const size_t used = sim_memory_used();
    assert_false(sim_memory_release((uintptr_t)a + 1, 2, &gone));
    assert_true(sim_memory_release((uintptr_t)a, 2, &gone));
    assert_true(sim_memory_used() < used);
    assert_false(sim_memory_release((uintptr_t)a, 3, &gone));
    sim_allocation found;
    assert_false(sim_memory_find((uintptr_t)a, &found));
    assert_true(sim_memory_nearest((uintptr_t)a + 10, &found));
    assert_false(found.live);
    assert_int_equal(found.freed_at, 2);
    assert_int_equal(a[0] | a[4999], 0); // nothing stale is left to be read
    assert_ptr_not_equal(sim_memory_allocate(5000, SIM_MEMORY_DEVICE, 1, "b"), a);
}

// In the heap of kernels allocations share pages: what is released is zeroed, what lies beside it stays.
static void neighbours_in_one_page_keep_their_content(void **state)
{
    (void)state;
    enum { COUNT = 40, BYTES = 16 }; // over several pages
    char *block[COUNT];
    for (int i = 0; i < COUNT; i++) {
        block[i] = sim_memory_allocate(BYTES, SIM_MEMORY_HEAP, 1, "heap");
        memset(block[i], 1, BYTES);
    }
    for (int i = 1; i < COUNT; i += 2) {
        assert_true(sim_memory_release((uintptr_t)block[i], 2, &gone));
        assert_true(gone.start <= (uintptr_t)block[i] && gone.end >= (uintptr_t)block[i] + BYTES);
        for (int j = 0; j < COUNT; j++) {
            const bool released = j % 2 == 1 && j <= i;
            assert_int_equal(block[j][0] + block[j][BYTES - 1], released ? 0 : 2);
            assert_true(released || gone.end <= (uintptr_t)block[j] || gone.start >= (uintptr_t)block[j] + BYTES);
        }
    }
    for (int i = 0; i < COUNT; i += 2)
        assert_true(sim_memory_release((uintptr_t)block[i], 2, &gone));
}

static void a_refused_free_is_known_of_that_allocation_alone(void **state)
{
    (void)state;
    uintptr_t a = (uintptr_t)sim_memory_allocate(64, SIM_MEMORY_DEVICE, 1, "a"),
              b = (uintptr_t)sim_memory_allocate(64, SIM_MEMORY_DEVICE, 2, "b");
    sim_allocation found;
    sim_memory_refuse(a + 1);
    assert_true(sim_memory_find(a, &found) && !found.free_refused);
    sim_memory_refuse(a);
    assert_true(sim_memory_find(a, &found) && found.free_refused);
    assert_true(sim_memory_find(b, &found) && !found.free_refused);
    assert_true(sim_memory_release(a, 3, &gone) && sim_memory_release(b, 3, &gone));
    const unsigned releases = sim_memory_releases();
    assert_false(sim_memory_release(a, 3, &gone));
    assert_int_equal(sim_memory_releases(), releases);
}

typedef struct visits {
    int count, live, wrong;
    uintptr_t last;
} visits;

static void visit(const sim_allocation *allocation, void *context)
{
    visits *all = context;
    all->count++;
    all->live += allocation->live;
    all->wrong += allocation->start <= all->last;
    all->last = allocation->start;
}

static void every_allocation_is_visited_once_in_order(void **state)
{
    (void)state;
    visits before = {0}, after = {0};
    sim_memory_each(visit, &before);
    uintptr_t a = (uintptr_t)sim_memory_allocate(64, SIM_MEMORY_DEVICE, 1, "a"),
              b = (uintptr_t)sim_memory_allocate(64, SIM_MEMORY_DEVICE, 2, "b");
    assert_true(sim_memory_release(b, 3, &gone));
    sim_memory_each(visit, &after);
    assert_int_equal(after.wrong, 0);
    assert_int_equal(after.count, before.count + 2);
    assert_int_equal(after.live, before.live + 1);
    assert_true(sim_memory_release(a, 3, &gone));
}

static void registered_memory_is_found(void **state)
{
    (void)state;
    char host[64];
    sim_allocation found;
    assert_false(sim_memory_find((uintptr_t)host, &found));
    assert_true(sim_memory_register((uintptr_t)host, sizeof host, 1));
    assert_false(sim_memory_register((uintptr_t)host + 63, 10, 1));
    assert_true(sim_memory_find((uintptr_t)host + 63, &found));
    assert_int_equal(found.kind, SIM_MEMORY_PINNED);
    assert_true(sim_memory_unregister((uintptr_t)host));
    assert_true(sim_memory_register((uintptr_t)host + 16, 16, 1)); // neighbours do not overlap
    assert_true(sim_memory_register((uintptr_t)host, 16, 1));
    assert_true(sim_memory_register((uintptr_t)host + 32, 32, 1));
    assert_false(sim_memory_register((uintptr_t)host, 64, 1));
    assert_true(sim_memory_find((uintptr_t)host + 15, &found) && found.start == (uintptr_t)host);
    assert_true(sim_memory_unregister((uintptr_t)host + 16));
    assert_true(sim_memory_unregister((uintptr_t)host + 32));
    assert_true(sim_memory_unregister((uintptr_t)host));
    assert_false(sim_memory_unregister((uintptr_t)host));
    assert_false(sim_memory_find((uintptr_t)host, &found));
}

// Kept while others allocate.
static sim_extent mine;

static void reserved_addresses_are_aligned_and_are_no_memory(void **state)
{
    (void)state;
    enum { BYTES = 8 << 20, ALIGNMENT = 2 << 20 };
    const size_t used = sim_memory_used();
    sim_allocation found;
    mine.start = sim_memory_reserve(BYTES, ALIGNMENT);
    mine.end = mine.start + BYTES;
    assert_true(mine.start >= sim_memory_base && mine.end <= sim_memory_base + sim_memory_span);
    assert_int_equal(mine.start % ALIGNMENT, 0);
    assert_int_equal(sim_memory_reserve(2 * sim_memory_span, ALIGNMENT), 0);
    assert_int_equal(sim_memory_reserve(BYTES, 2 * sim_memory_span), 0);
    assert_int_equal(sim_memory_reserve(sim_memory_span - BYTES, ALIGNMENT), 0);
    const uintptr_t other = sim_memory_reserve(BYTES, ALIGNMENT);
    assert_true(other >= mine.end || other + BYTES <= mine.start);
    sim_memory_unreserve(other);
    assert_false(sim_memory_find_kept(mine.start, &found));
    assert_true(sim_memory_expose(mine.start, BYTES / 2, 1, "map"));
    assert_true(sim_memory_find(mine.start + BYTES / 2 - 1, &found));
    assert_int_equal(found.kind, SIM_MEMORY_VIRTUAL);
    assert_false(sim_memory_find(mine.start + BYTES / 2, &found));
    const unsigned releases = sim_memory_releases();
    sim_memory_hide(mine.start, 2);
    assert_int_not_equal(sim_memory_releases(), releases);
    assert_false(sim_memory_find_kept(mine.start, &found));
    assert_true(sim_memory_expose(mine.start, BYTES, 3, "map")); // in the place of the half
    assert_true(sim_memory_find(mine.end - 1, &found));
    assert_int_equal(found.bytes, BYTES);
    sim_memory_hide(mine.start, 4);
    assert_true(sim_memory_nearest(mine.start, &found) && sim_memory_is_stale(&found, mine.start));
    assert_int_equal(found.freed_at, 4);
    assert_int_equal(sim_memory_used(), used);
}

static uintptr_t of_graph; // kept while others allocate

static void memory_of_a_graph_keeps_its_addresses(void **state)
{
    (void)state;
    sim_allocation found;
    of_graph = (uintptr_t)sim_memory_allocate(64, SIM_MEMORY_GRAPH, 1, "graph");
    const size_t used = sim_memory_used();
    assert_false(sim_memory_find(of_graph, &found)); // not before its node has run
    assert_true(sim_memory_find_kept(of_graph + 63, &found));
    for (int launch = 0; launch < 2; launch++) {
        assert_true(sim_memory_retake(of_graph));
        assert_false(sim_memory_retake(of_graph));
        assert_true(sim_memory_find(of_graph, &found));
        assert_true(sim_memory_release(of_graph, 2, &gone));
        assert_false(sim_memory_release(of_graph, 3, &gone));
        assert_false(sim_memory_find(of_graph, &found));
    }
    assert_int_equal(sim_memory_used(), used);
}

enum { SLOTS = 60, STEPS = 6000 };

static void allocations_never_overlap(void **state)
{
    (void)state;
    const unsigned seed = 7;
    struct {
        uintptr_t start;
        size_t bytes;
    } slot[SLOTS] = {0};
    print_message("seed %u\n", seed);
    srand(seed);
    int refused = 0;
    const size_t used = sim_memory_used();
    uintptr_t highest = 0;
    bool again = false; // an address below one that was used before
    for (int step = 0; step < STEPS; step++) {
        const int i = rand() % SLOTS;
        sim_allocation found;
        if (slot[i].start != 0) {
            assert_true(sim_memory_find(slot[i].start + slot[i].bytes / 2, &found));
            assert_int_equal(found.start, slot[i].start);
            assert_int_equal(found.bytes, slot[i].bytes);
            assert_true(sim_memory_release(slot[i].start, 9, &gone));
            slot[i].start = 0;
            continue;
        }
        const size_t bytes = 1 + (size_t)rand() % (12 << 20);
        const uintptr_t start = (uintptr_t)sim_memory_allocate(bytes, SIM_MEMORY_DEVICE, 4, "random");
        if (start == 0) {
            refused++;
            continue;
        }
        assert_true(start + bytes <= mine.start || start >= mine.end);
        assert_true(start + bytes <= of_graph || start >= of_graph + 64);
        for (int j = 0; j < SLOTS; j++)
            assert_true(slot[j].start == 0 || start + bytes + SIM_MEMORY_GAP <= slot[j].start ||
                        slot[j].start + slot[j].bytes + SIM_MEMORY_GAP <= start);
        slot[i].start = start;
        slot[i].bytes = bytes;
        again |= start < highest;
        highest = start > highest ? start : highest;
    }
    assert_true(again);
    assert_true(refused < STEPS / 10);
    for (int i = 0; i < SLOTS; i++)
        assert_true(slot[i].start == 0 || sim_memory_release(slot[i].start, 9, &gone));
    assert_int_equal(sim_memory_used(), used);
}

static void a_full_card_refuses(void **state)
{
    (void)state;
    assert_null(sim_memory_allocate(card, SIM_MEMORY_DEVICE, 1, "all"));
    assert_null(sim_memory_allocate((size_t)-1, SIM_MEMORY_PINNED, 1, "more than there are addresses"));
    assert_true(sim_memory_free() < sim_memory_total());
    // Pinned memory is not the card's, but its addresses are used up too. What was refused is nowhere.
    const size_t most = sim_memory_span / 4 * 3;
    visits before = {0}, after = {0};
    sim_memory_each(visit, &before);
    uintptr_t first = (uintptr_t)sim_memory_allocate(most, SIM_MEMORY_PINNED, 1, "most");
    assert_true(first != 0);
    assert_null(sim_memory_allocate(most, SIM_MEMORY_PINNED, 2, "more than is left"));
    sim_memory_each(visit, &after);
    assert_int_equal(after.live, before.live + 1);
    assert_int_equal(after.wrong, 0);
    assert_true(sim_memory_release(first, 3, &gone));
    // What was refused before may be had now, and it is where all memory is.
    first = (uintptr_t)sim_memory_allocate(most, SIM_MEMORY_PINNED, 4, "most again");
    assert_true(first >= sim_memory_base && first + most <= sim_memory_base + sim_memory_span);
    assert_true(sim_memory_release(first, 5, &gone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_lies_behind_every_allocation),
        cmocka_unit_test(an_index_off_by_the_whole_size_is_in_nothing),
        cmocka_unit_test(very_many_small_allocations_lie_close),
        cmocka_unit_test(freed_memory_is_known_as_freed),
        cmocka_unit_test(neighbours_in_one_page_keep_their_content),
        cmocka_unit_test(a_refused_free_is_known_of_that_allocation_alone),
        cmocka_unit_test(every_allocation_is_visited_once_in_order),
        cmocka_unit_test(registered_memory_is_found),
        cmocka_unit_test(reserved_addresses_are_aligned_and_are_no_memory),
        cmocka_unit_test(memory_of_a_graph_keeps_its_addresses),
        cmocka_unit_test(allocations_never_overlap),
        cmocka_unit_test(a_full_card_refuses),
    };
    return cmocka_run_group_tests(tests, start_card, NULL);
}
