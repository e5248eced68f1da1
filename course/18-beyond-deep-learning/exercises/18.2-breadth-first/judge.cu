#include "learn.h"

#include "18.2-breadth-first.cu"

#include <set>

struct graph {
    std::vector<int> first, neighbours;
};

static graph make_graph(int vertices, int edges)
{
    std::vector<std::set<int>> lists(vertices);
    uint32_t state = 7;
    for (int i = 0; i < edges; i++) {
        state = state * 1664525u + 1013904223u;
        int a = (int)(state >> 8) % vertices;
        state = state * 1664525u + 1013904223u;
        int b = (int)(state >> 8) % vertices;
        lists[a].insert(b);
        lists[b].insert(a);
    }
    graph g;
    for (auto &list : lists) {
        g.first.push_back((int)g.neighbours.size());
        g.neighbours.insert(g.neighbours.end(), list.begin(), list.end());
    }
    g.first.push_back((int)g.neighbours.size());
    return g;
}

static std::vector<int> distances_on_host(const graph &g, int vertices)
{
    std::vector<int> distances(vertices, -1), queue(1, 0);
    distances[0] = 0;
    for (size_t i = 0; i < queue.size(); i++)
        for (int k = g.first[queue[i]]; k < g.first[queue[i] + 1]; k++)
            if (distances[g.neighbours[k]] == -1) {
                distances[g.neighbours[k]] = distances[queue[i]] + 1;
                queue.push_back(g.neighbours[k]);
            }
    return distances;
}

int main(void)
{
    struct {
        int vertices, edges;
    } cases[] = {{1, 0}, {10, 40}, {200, 230}, {300, 1500}};
    for (auto c : cases) {
        learn_case("%d vertices, up to %d edges", c.vertices, c.edges);
        graph g = make_graph(c.vertices, c.edges);
        std::vector<int> expected = distances_on_host(g, c.vertices), start(c.vertices, -1), sizes(c.vertices + 2, 0);
        start[0] = 0;
        for (int distance : expected)
            if (distance >= 0)
                sizes[distance]++;
        int *first = learn_device(g.first), *neighbours = learn_device(g.neighbours);
        int *distances = learn_device(start), *next_size = learn_allocate<int>(1);
        int *frontier = learn_device(std::vector<int>(c.vertices, 0)), *next = learn_uninitialised<int>(c.vertices);
        for (int size = 1, distance = 1; size > 0; distance++) {
            cudaMemset(next_size, 0, sizeof(int));
            advance<<<(size + 63) / 64, 64>>>(first, neighbours, distances, frontier, size, next, next_size, distance);
            learn_wait();
            cudaMemcpy(&size, next_size, sizeof(int), cudaMemcpyDeviceToHost);
            learn_require(size == sizes[distance], "the frontier at distance %d has %d vertices, expected %d", distance,
                          size, sizes[distance]);
            std::swap(frontier, next);
        }
        learn_expect("distances", distances, expected);
    }
    return learn_passed();
}
