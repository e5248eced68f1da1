#include "learn_c.h"

#include "14.2-topological-order.c"

enum { MOST_INPUTS = sizeof((struct node *)0)->input / sizeof(int) };

static void check(const char *name, struct node *nodes, int node_count, int result, int expected_count)
{
    for (int i = 0; i < node_count; i++)
        for (int k = nodes[i].inputs; k < MOST_INPUTS; k++)
            nodes[i].input[k] = -1; // not an input: whoever follows it leaves the array
    bool *seen = calloc((size_t)node_count, sizeof *seen);
    int *list = malloc((size_t)expected_count * sizeof *list);
    int *place = malloc((size_t)node_count * sizeof *place);
    learn_case("%s", name);
    int count = order(nodes, result, seen, list, 0);
    learn_expect_int("the number of nodes", count, expected_count);
    for (int i = 0; i < node_count; i++)
        place[i] = -1;
    for (int i = 0; i < count; i++) {
        learn_require(list[i] >= 0 && list[i] < node_count, "list[%d] is %d, which is not a node", i, list[i]);
        learn_require(place[list[i]] < 0, "node %d is in the list twice", list[i]);
        place[list[i]] = i;
    }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < nodes[list[i]].inputs; k++) {
            int input = nodes[list[i]].input[k];
            learn_require(place[input] >= 0 && place[input] < i, "node %d does not come after its input %d", list[i],
                          input);
        }
    free(seen);
    free(list);
    free(place);
}

int main(void)
{
    struct node single[] = {{0, {0}}};
    struct node diamond[] = {{2, {1, 2}}, {1, {3}}, {1, {3}}, {0, {0}}, {1, {0}}}; // node 4 is not needed
    struct node square[] = {{0, {0}}, {2, {0, 0}}};
    struct node crossed[] = {{0, {0}}, {1, {0}}, {2, {1, 5}}, {3, {2, 0, 4}}, {1, {5}}, {2, {1, 0}}};
    enum { STEPS = 60 };
    struct node chain[STEPS]; // each is used twice by the next: 2^60 paths
    check("one node", single, 1, 0, 1);
    check("a diamond", diamond, 5, 0, 4);
    check("x * x", square, 2, 1, 2);
    check("crossed edges", crossed, 6, 3, 6);
    for (int i = 0; i < STEPS; i++)
        chain[i] = i > 0 ? (struct node){2, {i - 1, i - 1}} : (struct node){0, {0}};
    check("a chain in which each value is used twice", chain, STEPS, STEPS - 1, STEPS);
    return learn_passed();
}
