// Batch statistics of several ranks on a GPU: every batchnorm2d of a trace, and its gradient, becomes the two operators
// that it is cut into where its sums are complete. The plan adds those up over the ranks in between (plan_reduce.c).

#include <stdlib.h>
#include <string.h>

#include "nn/plan.h"

enum { MOST_BOUND = 10 };

// A half of what is cut: its operator, and the operands that it has of the whole.
typedef struct half {
    const char *op;
    const char *operands[MOST_BOUND]; // NULL-terminated
} half;

static const struct cut {
    const char *whole;
    const char *sums; // the operand that travels: the first half's output, the second's input
    half halves[2];
} cuts[] = {
    {"batchnorm2d_forward",
     "moments",
     {{"sync_batchnorm2d_moments", {"input"}},
      {"sync_batchnorm2d_apply",
       {"input", "gamma", "beta", "output", "mean", "inverse_std", "running_mean", "running_var"}}}},
    {"batchnorm2d_backward",
     "sums",
     {{"sync_batchnorm2d_sums", {"input", "mean", "inverse_std", "grad_output", "grad_gamma", "grad_beta"}},
      {"sync_batchnorm2d_input_gradient", {"input", "gamma", "mean", "inverse_std", "grad_output", "grad_input"}}}},
};
enum { CUTS = sizeof cuts / sizeof *cuts };

const char *heddle_plan_summed_operand(const heddle_op *op)
{
    for (int i = 0; i < CUTS; i++)
        if (strcmp(cuts[i].halves[0].op, op->name) == 0)
            return cuts[i].sums;
    return NULL;
}

static heddle_value operand_of(const heddle_trace_node *node, const char *name)
{
    int index = heddle_operand_find(node->op, name);
    return index < 0 ? HEDDLE_NO_VALUE : node->operand[index];
}

// Appends one half; *sums is bound to what travels, or taken from it.
static heddle_status append_half(heddle_trace *trace, const heddle_trace_node *whole, const struct cut *cut,
                                 const half *part, heddle_value *sums)
{
    heddle_binding bound[MOST_BOUND + 1];
    const heddle_op *op;
    int count = 0, node;
    HEDDLE_TRY(heddle_op_find(part->op, &op));
    for (int i = 0; i < MOST_BOUND && part->operands[i]; i++) {
        heddle_value value = operand_of(whole, part->operands[i]);
        if (value != HEDDLE_NO_VALUE)
            bound[count++] = (heddle_binding){part->operands[i], value};
    }
    if (*sums != HEDDLE_NO_VALUE)
        bound[count++] = (heddle_binding){cut->sums, *sums};
    HEDDLE_TRY(heddle_trace_apply(trace, op, whole->shape, bound, count, &node));
    *sums = heddle_trace_operand(trace, node, cut->sums);
    return HEDDLE_OK;
}

static heddle_status append_cut(heddle_trace *trace, const heddle_trace_node *whole, const struct cut *cut)
{
    heddle_value sums = HEDDLE_NO_VALUE;
    HEDDLE_TRY(append_half(trace, whole, cut, &cut->halves[0], &sums));
    // Nobody may want the gradient of a first layer's input.
    int index = heddle_operand_find(whole->op, "grad_input");
    if (index >= 0 && whole->operand[index] == HEDDLE_NO_VALUE)
        return HEDDLE_OK;
    return append_half(trace, whole, cut, &cut->halves[1], &sums);
}

static heddle_status append_node(heddle_trace *trace, const heddle_trace_node *node)
{
    for (int i = 0; i < CUTS; i++)
        if (strcmp(cuts[i].whole, node->op->name) == 0)
            return append_cut(trace, node, &cuts[i]);
    return heddle_trace_append(trace, node);
}

heddle_status heddle_plan_spread(heddle_plan *plan)
{
    heddle_trace *trace = &plan->trace;
    heddle_trace_node *nodes = trace->nodes;
    int count = trace->node_count;
    trace->nodes = NULL;
    trace->node_count = trace->node_room = 0;
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < count && status == HEDDLE_OK; i++)
        status = append_node(trace, &nodes[i]);
    free(nodes);
    return status;
}
