// What threads learn of one another, held against a slow oracle on random facts; and which word was handed on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "race/handed.h"
#include "race/knowledge.h"

enum { BLOCKS = 4, STAMPS = 4, THREADS = 4, CLOCKS = 4, ROUNDS = 3000 };

// --- the oracle -----------------------------------------------------------------------------------------------------

typedef struct oracle {
    uint32_t stamp[BLOCKS];          // 0: nothing is known of the block
    uint32_t clock[BLOCKS][THREADS]; // one more than the clock; 0: nothing is known of the thread
} oracle;

static uint32_t below(uint32_t bound)
{
    static uint32_t state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % bound;
}

static oracle draw(void)
{
    oracle drawn = {0};
    for (int block = 0; block < BLOCKS; block++) {
        bool any = false;
        for (int thread = 0; thread < THREADS; thread++) {
            drawn.clock[block][thread] = below(2) ? 1 + below(CLOCKS) : 0;
            any |= drawn.clock[block][thread] != 0;
        }
        drawn.stamp[block] = any ? 1 + below(STAMPS - 1) : 0;
    }
    return drawn;
}

static sim_knowledge *knowledge_of(const oracle *from)
{
    sim_fact facts[BLOCKS * THREADS];
    uint32_t count = 0;
    for (uint32_t block = 0; block < BLOCKS; block++)
        for (uint32_t thread = 0; thread < THREADS; thread++)
            if (from->clock[block][thread])
                facts[count++] = (sim_fact){block, from->stamp[block], thread, from->clock[block][thread] - 1};
    return sim_knowledge_make(facts, count);
}

static oracle unite(const oracle *a, const oracle *b)
{
    oracle both = *a;
    for (int block = 0; block < BLOCKS; block++) {
        if (b->stamp[block] > a->stamp[block]) {
            both.stamp[block] = b->stamp[block];
            memcpy(both.clock[block], b->clock[block], sizeof both.clock[block]);
        }
        for (int thread = 0; thread < THREADS && a->stamp[block] == b->stamp[block]; thread++)
            if (b->clock[block][thread] > both.clock[block][thread])
                both.clock[block][thread] = b->clock[block][thread];
    }
    return both;
}

static void assert_knows(const sim_knowledge *known, const oracle *expected)
{
    for (uint32_t block = 0; block < BLOCKS; block++)
        for (uint32_t stamp = 0; stamp <= STAMPS; stamp++)
            for (uint32_t thread = 0; thread <= THREADS; thread++)
                for (uint32_t clock = 0; clock <= CLOCKS; clock++) {
                    uint32_t last = expected->stamp[block];
                    bool now = stamp == last && thread < THREADS && clock < expected->clock[block][thread];
                    assert_int_equal(sim_knowledge_has(known, block, stamp, thread, clock),
                                     last != 0 && (stamp < last || now));
                }
}

// --- the tests ------------------------------------------------------------------------------------------------------

static void joined_knowledge_knows_what_either_knew(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const oracle one = draw(), other = draw(), both = unite(&one, &other);
        sim_knowledge *a = knowledge_of(&one), *b = knowledge_of(&other), *joined = sim_knowledge_join(a, b);
        assert_knows(a, &one);
        assert_knows(joined, &both);
        sim_knowledge *expected = knowledge_of(&both);
        assert_true(sim_knowledge_same(joined, expected));
        assert_int_equal(sim_knowledge_same(a, b), memcmp(&one, &other, sizeof one) == 0);
        sim_knowledge *held = sim_knowledge_keep(a);
        sim_knowledge_learn(&held, b);
        assert_true(sim_knowledge_same(held, expected));
        sim_knowledge_drop(held);
        sim_knowledge_drop(expected);
        sim_knowledge_drop(joined);
        assert_int_equal(a->references, 1); // all that was shared is given back
        assert_int_equal(b->references, 1);
        sim_knowledge_drop(a);
        sim_knowledge_drop(b);
    }
}

static void facts_learned_one_by_one_are_known_as_if_at_once(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const oracle one = draw(), other = draw();
        oracle both = unite(&one, &other);
        sim_knowledge *held = knowledge_of(&one), *more = knowledge_of(&other), *expected = knowledge_of(&both);
        for (uint32_t i = 0; i < more->count; i++) {
            sim_knowledge *single = sim_knowledge_make(&more->fact[i], 1);
            sim_knowledge_learn(&held, single);
            sim_knowledge_drop(single);
        }
        assert_true(sim_knowledge_same(held, expected));
        sim_knowledge *shared = sim_knowledge_keep(held);
        for (uint32_t block = 0; block < BLOCKS; block++) {
            sim_knowledge_forget(&held, block);
            both.stamp[block] = 0;
            assert_knows(held, &both);
        }
        assert_null(held);
        assert_true(sim_knowledge_same(shared, expected)); // others keep what they had
        sim_knowledge_drop(shared);
        sim_knowledge_drop(expected);
        sim_knowledge_drop(more);
    }
}

static void what_teaches_nothing_new_is_not_kept_twice(void **state)
{
    (void)state;
    const sim_fact facts[] = {{1, 5, 0, 2}, {1, 5, 3, 7}, {2, 4, 1, 1}};
    sim_knowledge *all = sim_knowledge_make(facts, 3), *part = sim_knowledge_make(facts + 1, 1);
    assert_ptr_equal(sim_knowledge_join(all, part), all);
    assert_ptr_equal(sim_knowledge_join(part, all), all);
    assert_ptr_equal(sim_knowledge_join(all, all), all);
    assert_ptr_equal(sim_knowledge_join(all, NULL), all);
    assert_ptr_equal(sim_knowledge_join(NULL, all), all);
    assert_int_equal(all->references, 6);
    assert_int_equal(part->references, 1);
    assert_null(sim_knowledge_join(NULL, NULL));
    assert_false(sim_knowledge_has(NULL, 1, 0, 0, 0));
    assert_true(sim_knowledge_same(NULL, NULL));
    assert_false(sim_knowledge_same(all, NULL));
    assert_false(sim_knowledge_same(NULL, all));
    free(all);
    free(part);
}

static void a_word_links_the_thread_that_gave_it_to_the_one_that_took_it(void **state)
{
    (void)state;
    int flag, data;
    const uintptr_t word = (uintptr_t)&flag, other = (uintptr_t)&data;
    assert_false(sim_handed_between(1, 0, 1, 1, other));
    sim_handed_gave(1, 0, word);
    assert_false(sim_handed_between(1, 0, 1, 1, other)); // not taken yet
    sim_handed_took(1, 1, word);
    assert_true(sim_handed_between(1, 0, 1, 1, other));
    assert_false(sim_handed_between(1, 0, 1, 1, word));  // the word itself is linked by nothing
    assert_false(sim_handed_between(1, 1, 1, 0, other)); // nor the other way round
    assert_false(sim_handed_between(2, 0, 1, 1, other));
    assert_false(sim_handed_between(1, 0, 2, 1, other));
    assert_false(sim_handed_between(1, 2, 1, 1, other));
    assert_false(sim_handed_between(1, 0, 1, 2, other));
    sim_handed_took(1, 0, other); // keeps what it gave
    assert_true(sim_handed_between(1, 0, 1, 1, other));
    sim_handed_took(1, 1, other);
    assert_false(sim_handed_between(1, 0, 1, 1, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_knowledge_knows_what_either_knew),
        cmocka_unit_test(facts_learned_one_by_one_are_known_as_if_at_once),
        cmocka_unit_test(what_teaches_nothing_new_is_not_kept_twice),
        cmocka_unit_test(a_word_links_the_thread_that_gave_it_to_the_one_that_took_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
