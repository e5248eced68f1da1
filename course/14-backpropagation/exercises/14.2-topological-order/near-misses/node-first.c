// wrong: does not come after its input

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
    list[count++] = node;
    for (int i = 0; i < nodes[node].inputs; i++)
        count = order(nodes, nodes[node].input[i], seen, list, count);
    return count;
}
