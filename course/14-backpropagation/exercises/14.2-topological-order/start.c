// The order in which the nodes of a graph can be computed.

#include <stdbool.h>

struct node {
    int inputs; // how many
    int input[4];
};

// Appends to list, which holds `count` nodes already, what is still missing up to `node`. Returns the new count.
int order(const struct node *nodes, int node, bool *seen, int *list, int count)
{
    // TODO: inputs first, then the node itself, and nothing twice
    list[count++] = node;
    return count;
}
