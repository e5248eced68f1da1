// out-of-bounds: an access outside memory from malloc

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
    for (int i = 0; i <= nodes[node].inputs; i++)
        count = order(nodes, nodes[node].input[i], seen, list, count);
    list[count++] = node;
    return count;
}
