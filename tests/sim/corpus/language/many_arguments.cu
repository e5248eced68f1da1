// Arguments of many types: structs by value, arrays in structs, bool, char, enum, double, pointers to pointers.
#include "../corpus.h"

enum colour { RED, GREEN, BLUE };

struct settings {
    float weights[5];
    bool on;
    colour c;
};

__global__ void work(settings s, char letter, bool flag, double d, int **rows, const settings *list, short small)
{
    int t = threadIdx.x;
    rows[t][0] = (int)s.weights[4] + letter + flag + (int)d + list[0].c + small + s.on;
}

int main()
{
    settings s = {{1, 2, 3, 4, 50}, true, BLUE}, list[1] = {s};
    settings *device_list = device_copy(list);
    int *row = device_zeros<int>(4), *rows[4] = {row, row + 1, row + 2, row + 3}, result[4];
    int **device_rows = device_copy(rows);
    work<<<1, 4>>>(s, 'a', true, 2, device_rows, device_list, 3);
    CHECK(cudaGetLastError());
    fetch(result, row);
    REQUIRE(result[3] == 50 + 'a' + 1 + 2 + 2 + 3 + 1);
    CHECK(cudaFree(device_list));
    CHECK(cudaFree(device_rows));
    CHECK(cudaFree(row));
    return 0;
}
