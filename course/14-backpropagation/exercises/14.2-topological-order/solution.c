// The order in which the nodes of a graph can be computed.
//
// A node is appended after the calls for all of its inputs, so everything it needs stands before it. `seen` is set on
// the way in: a node that is reached on a second path has been appended, or will be before its user, so the second
// visit has nothing to do. Without it, a chain of n values that are each used twice would take 2^n visits.

#include <stdbool.h>

struct node {
    int inputs; // how many
    int input[4];
};

// Appends to list, which holds `count` nodes already, what is still missing up to `node`. Returns the new count.
int order(const struct node *nodes, int node, bool *seen, int *list, int count)
{
    if (seen[node])
        return count;
    seen[node] = true;
    for (int i = 0; i < nodes[node].inputs; i++)
        count = order(nodes, nodes[node].input[i], seen, list, count);
    list[count++] = node;
    return count;
}
