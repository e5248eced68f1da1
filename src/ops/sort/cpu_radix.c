// sort, second rung: a radix sort over pieces, all threads. Byte after byte of the keys, from the lowest, every piece
// counts its bytes, the counts are added up to places, and every piece moves its keys and values there, in their order.
//
// Pieces have a fixed size and move in a fixed order, so the result does not depend on the number of threads.
//
// Limited by: four passes over memory, each writing to 256 places at a time.

#include "heddle/ops.h"
#include "ops/define.h"
#include "ops/pieces.h"
#include "ops/sort/sort.h"

enum {
    BITS = 8,
    DIGITS = 1 << BITS,
    KEY_BITS = 32,
    PIECE = 1 << 16, // so that a piece's counts are few beside its keys
};

HEDDLE_SHARED_WORKSPACE(heddle_sort_cpu_radix_workspace, heddle_elements_shape,
                        (2 * (size_t)shape->n + DIGITS * (size_t)heddle_piece_count((size_t)shape->n, PIECE)) *
                            sizeof(int32_t))

typedef struct pass {
    const float *keys;
    const int32_t *values;
    float *moved_keys;
    int32_t *moved_values;
    uint32_t (*places)[DIGITS]; // of each piece: counts, then where its next key with that digit goes
    int shift;
} pass;

static uint32_t digit_of(float key, int shift)
{
    return heddle_sort_bits(key) >> shift & (DIGITS - 1);
}

static void count_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const pass *now = context;
    uint32_t *counts = now->places[piece];
    for (int digit = 0; digit < DIGITS; digit++)
        counts[digit] = 0;
    for (size_t i = begin; i < end; i++)
        counts[digit_of(now->keys[i], now->shift)]++;
}

static void move_piece(void *context, size_t begin, size_t end, int piece, int worker)
{
    (void)worker;
    const pass *now = context;
    uint32_t *places = now->places[piece];
    for (size_t i = begin; i < end; i++) {
        const uint32_t place = places[digit_of(now->keys[i], now->shift)]++;
        now->moved_keys[place] = now->keys[i];
        now->moved_values[place] = now->values[i];
    }
}

// A piece's keys go behind those of a lower digit, and of the same digit in earlier pieces.
static void add_up(uint32_t (*places)[DIGITS], int pieces)
{
    uint32_t sum = 0;
    for (int digit = 0; digit < DIGITS; digit++)
        for (int piece = 0; piece < pieces; piece++) {
            const uint32_t count = places[piece][digit];
            places[piece][digit] = sum;
            sum += count;
        }
}

heddle_status heddle_sort_cpu_radix(const heddle_call *call)
{
    const size_t n = (size_t)((const heddle_elements_shape *)call->shape)->n;
    float *between_keys = call->workspace;
    int32_t *between_values = (int32_t *)call->workspace + n;
    pass now = {.keys = call->input[0], .values = call->input[1], .places = (uint32_t(*)[DIGITS])(between_values + n)};
    for (; now.shift < KEY_BITS; now.shift += BITS) {
        const bool out = now.shift / BITS % 2 == 1; // the last of four passes ends in the output
        now.moved_keys = out ? call->output[0] : between_keys;
        now.moved_values = out ? call->output[1] : between_values;
        heddle_pieces_run(call->pool, n, PIECE, count_piece, &now);
        add_up(now.places, heddle_piece_count(n, PIECE));
        heddle_pieces_run(call->pool, n, PIECE, move_piece, &now);
        now.keys = now.moved_keys;
        now.values = now.moved_values;
    }
    return HEDDLE_OK;
}
