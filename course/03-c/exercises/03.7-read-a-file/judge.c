#include "learn_c.h"

#include <unistd.h>

#include "03.7-read-a-file.c"

// Writes a file with this header and so many temperatures, 1.5, 2.5, …, reads it, and removes it.
static float *read_back(uint32_t header, size_t header_bytes, size_t written, size_t extra_bytes, uint32_t *count)
{
    char path[] = "/tmp/heddle-learn-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    fwrite(&header, 1, header_bytes, file);
    for (size_t i = 0; i < written; i++)
        fwrite(&(float){(float)i + 1.5f}, sizeof(float), 1, file);
    for (size_t i = 0; i < extra_bytes; i++)
        fputc(0, file);
    fclose(file);
    float *temperatures = read_temperatures(path, count);
    unlink(path);
    return temperatures;
}

static void judge_complete(uint32_t number)
{
    uint32_t count = 99;
    learn_case("a complete file with %u temperatures", number);
    float *temperatures = read_back(number, sizeof number, number, 0, &count);
    learn_require(temperatures != NULL, "read_temperatures returned NULL");
    learn_expect_int("count", count, number);
    for (uint32_t i = 0; i < number; i++)
        learn_require(temperatures[i] == (float)i + 1.5f, "temperatures[%u] is %g, expected %g", i, temperatures[i],
                      (float)i + 1.5f);
    free(temperatures);
}

static void judge_broken(const char *what, uint32_t header, size_t header_bytes, size_t written, size_t extra_bytes)
{
    uint32_t count = 0;
    learn_case("%s", what);
    float *temperatures = read_back(header, header_bytes, written, extra_bytes, &count);
    bool refused = temperatures == NULL;
    free(temperatures);
    learn_require(refused, "read_temperatures returned memory, expected NULL");
}

int main(void)
{
    uint32_t count = 1;
    judge_complete(3);
    judge_complete(1000);
    learn_case("a file that does not exist");
    learn_require(read_temperatures("/nonexistent/temperatures", &count) == NULL,
                  "read_temperatures returned memory, expected NULL");
    judge_broken("a file that ends after 2 of 3 temperatures", 3, sizeof(uint32_t), 2, 0);
    judge_broken("a file that ends in the middle of the last temperature", 3, sizeof(uint32_t), 2, 3);
    judge_broken("a header without temperatures", 5, sizeof(uint32_t), 0, 0);
    judge_broken("an empty file", 0, 0, 0, 0);
    judge_broken("half a header", 7, 2, 0, 0);
    return learn_passed();
}
