// Lays values out in memory: largest first, each at the lowest offset where no value placed before is alive at the same
// time. Greedy, but within a few percent of the most any moment needs for networks like ours.

#include "nn/layout.h"

#include <stdlib.h>

enum { ALIGNMENT = 256 };

typedef struct placement {
    heddle_value value;
    int first, last; // nodes between which it must stay
    size_t bytes, offset;
} placement;

static int larger_first(const void *a, const void *b)
{
    const placement *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return left->value - right->value; // the same layout every time
}

// One entry for each root value that a node touches and nobody gave memory.
static int collect(const heddle_trace *trace, placement *placements, int *place_of)
{
    int count = 0;
    for (int i = 0; i < trace->value_count; i++)
        place_of[i] = -1;
    for (int node = 0; node < trace->node_count; node++) {
        const heddle_trace_node *run = &trace->nodes[node];
        for (int i = 0; i < run->op->operand_count; i++) {
            if (run->operand[i] == HEDDLE_NO_VALUE)
                continue;
            heddle_value root = trace->values[run->operand[i]].root;
            const heddle_trace_value *value = &trace->values[root];
            if (value->memory)
                continue;
            if (place_of[root] < 0) {
                size_t bytes = value->elements * heddle_dtype_size(value->dtype);
                place_of[root] = count;
                placements[count++] = (placement){.value = root, .first = node, .bytes = bytes};
                placements[count - 1].bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            }
            // What runs aside may still be reading until the last node.
            placement *place = &placements[place_of[root]];
            const int last = run->aside ? trace->node_count - 1 : node;
            place->last = last > place->last ? last : place->last;
        }
    }
    return count;
}

// The lowest offset at which `current` overlaps none of the placed ones that live at the same time.
static size_t lowest_offset(const placement *placements, int placed, const placement *current)
{
    size_t offset = 0;
    for (int i = 0; i < placed;) {
        const placement *other = &placements[i];
        bool together = other->first <= current->last && current->first <= other->last;
        bool overlaps = offset < other->offset + other->bytes && other->offset < offset + current->bytes;
        if (together && overlaps) {
            offset = other->offset + other->bytes;
            i = 0; // what was clear of the old offset may be in the way of the new one
        } else {
            i++;
        }
    }
    return offset;
}

heddle_status heddle_layout(const heddle_trace *trace, size_t *offset, size_t *bytes, size_t *unshared)
{
    placement *placements = calloc((size_t)trace->value_count + 1, sizeof *placements);
    int *place_of = calloc((size_t)trace->value_count + 1, sizeof *place_of);
    if (!placements || !place_of) {
        free(placements);
        free(place_of);
        return heddle_fail(HEDDLE_OUT_OF_MEMORY, "no memory to lay out %d values", trace->value_count);
    }
    int count = collect(trace, placements, place_of);
    qsort(placements, (size_t)count, sizeof *placements, larger_first);
    *bytes = *unshared = 0;
    for (int i = 0; i < count; i++) {
        placement *current = &placements[i];
        current->offset = lowest_offset(placements, i, current);
        offset[current->value] = current->offset;
        *unshared += current->bytes;
        if (current->offset + current->bytes > *bytes)
            *bytes = current->offset + current->bytes;
    }
    free(placements);
    free(place_of);
    return HEDDLE_OK;
}
