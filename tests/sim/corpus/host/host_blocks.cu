// Host memory of every kind, copied up to its last byte, moved, freed and made anew.
#include "../corpus.h"

#include <memory>
#include <string>
#include <vector>

struct pair {
    int first[8], second[8];
};
static int table[2][16];

int main()
{
    int *device = device_ramp<int>(1024, 0, 1);
    std::vector<std::vector<int>> kept;
    for (int round = 1; round < 1024; round++) {
        int *block = (int *)malloc(round * sizeof(int));
        CHECK(cudaMemcpy(block, device, round * sizeof(int), cudaMemcpyDeviceToHost));
        block = (int *)realloc(block, (round + 1) * sizeof(int));
        CHECK(cudaMemcpy(block + 1, device, round * sizeof(int), cudaMemcpyDeviceToHost));
        REQUIRE(block[round] == round - 1);
        free(block);
        if (round % 7 == 0)
            kept.emplace_back(round);
    }
    std::vector<char *> neighbours;
    for (int bytes = 8; bytes < 256; bytes += 8) // one behind the other
        neighbours.push_back((char *)malloc(bytes));
    for (char *one : neighbours) {
        CHECK(cudaMemcpy(one, device, 8, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(one + 8, device, 0, cudaMemcpyDeviceToHost));
        free(one);
    }
    for (std::vector<int> &numbers : kept)
        CHECK(cudaMemcpy(numbers.data(), device, numbers.size() * sizeof(int), cudaMemcpyDeviceToHost));
    std::string text(64, ' ');
    CHECK(cudaMemcpy(&text[0], device, text.size(), cudaMemcpyDeviceToHost));
    std::unique_ptr<int[]> owned(new int[1024]);
    CHECK(cudaMemcpy(owned.get(), device, 1024 * sizeof(int), cudaMemcpyDeviceToHost));
    std::shared_ptr<pair> shared = std::make_shared<pair>(); // lies inside a larger block
    CHECK(cudaMemcpy(shared->first, device, sizeof(pair), cudaMemcpyDeviceToHost));
    void *aligned = NULL;
    REQUIRE(posix_memalign(&aligned, 4096, 1000) == 0 && (size_t)aligned % 4096 == 0);
    CHECK(cudaMemcpy(aligned, device, 1000, cudaMemcpyDeviceToHost));
    free(aligned);
    int *zeros = (int *)calloc(16, 4);
    CHECK(cudaMemcpy(device, zeros, 64, cudaMemcpyHostToDevice));
    free(zeros);
    CHECK(cudaMemcpy(table[1], device, sizeof table[1], cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(table, device, sizeof table, cudaMemcpyDeviceToHost));
    REQUIRE(table[0][15] == 0 && table[1][15] == 31);
    CHECK(cudaFree(device));
    return 0;
}
