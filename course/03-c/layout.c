// A matrix is one array: element (row, column) of a matrix with `columns` columns lies at row * columns + column.

#include <stdio.h>

struct matrix {
    size_t rows, columns;
    float *values;
};

static float *at(const struct matrix *m, size_t row, size_t column)
{
    return &m->values[row * m->columns + column];
}

int main(void)
{
    float values[6] = {0};
    struct matrix m = {.rows = 2, .columns = 3, .values = values};
    *at(&m, 1, 2) = 5;
    for (size_t i = 0; i < m.rows * m.columns; i++)
        printf("%g%c", values[i], i + 1 < m.rows * m.columns ? ' ' : '\n');
    return 0;
}
