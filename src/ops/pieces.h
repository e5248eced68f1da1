// Splitting work over the pool so that the result does not depend on the number of threads: a piece has a fixed size,
// and partial sums, one per piece, are added in piece order.
#pragma once

#include <stddef.h>

#include "base/threads.h"

enum {
    // Elements per piece of an elementwise loop: 64 KiB of float per operand, so that a piece takes some microseconds
    // (more than handing it to a thread) and 1 MiB still gives work to 16 threads.
    HEDDLE_PIECE_ELEMENTS = 16 * 1024,
};

// Handles [begin, end), which is piece number `piece`.
typedef void heddle_piece_task(void *context, size_t begin, size_t end, int piece, int worker);

// Pieces of `grain` (at least 1) that cover `total`; the last may be short.
int heddle_piece_count(size_t total, size_t grain);
void heddle_pieces_run(heddle_pool *pool, size_t total, size_t grain, heddle_piece_task *task, void *context);

// How many rows of `row_elements` make a piece of about HEDDLE_PIECE_ELEMENTS; at least 1.
size_t heddle_piece_rows(size_t row_elements);
