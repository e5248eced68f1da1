// Choosing rungs by measurement: an operator call is timed with each of the rungs that could do it, in the buffers it
// will run in, once; the winners are kept in the user's cache, by device, operator, shape, arithmetic and tier.
#pragma once

#include "heddle/op.h"

enum { HEDDLE_TUNE_CANDIDATES = 4 }; // the best of a ladder by its order; below them nothing wins

typedef struct heddle_tuner heddle_tuner;

typedef struct heddle_tune_wish {
    heddle_tier tier;
    heddle_arithmetic arithmetic;
    bool deterministic; // no rung that adds in any order
} heddle_tune_wish;

// The rungs worth a measurement for a call, the ladder's own choice first; returns how many, at least 1 where any rung
// can do it.
int heddle_tune_candidates(const heddle_op *op, heddle_device_kind device, const heddle_tune_wish *wish,
                           const void *shape, const heddle_rung *rungs[HEDDLE_TUNE_CANDIDATES]);

// Opens the cache for the stream's device. A file that is damaged or cannot be read counts as empty.
heddle_status heddle_tuner_open(heddle_stream *stream, heddle_tuner **tuner);
// Writes what was learnt. A cache that cannot be written is no failure.
void heddle_tuner_close(heddle_tuner *tuner);
// Whether choices will be found again by the next run.
bool heddle_tuner_keeps(const heddle_tuner *tuner);

// Whether the cache has a choice for a call with this shape, or there is none to make: then it is in *rung.
bool heddle_tuner_knows(const heddle_tuner *tuner, const heddle_op *op, const void *shape, const heddle_tune_wish *wish,
                        const heddle_rung *const *candidates, int count, const heddle_rung **rung);
// The quickest of the candidates for a call whose operands and workspace are there, as the cache knows it or as it
// turns out. What the call updates in place is left as it was; what it only writes is not.
heddle_status heddle_tuner_choose(heddle_tuner *tuner, const heddle_op *op, const heddle_call *call,
                                  const heddle_tune_wish *wish, const heddle_rung *const *candidates, int count,
                                  const heddle_rung **rung);
