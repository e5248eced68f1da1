// The cards, from NVIDIA's data sheets and the tables of compute capabilities in the CUDA programming guide.
#include "api/chips.h"

#define KB ((size_t)1 << 10)
#define MB ((size_t)1 << 20)
#define GB ((size_t)1 << 30)

// clang-format off
const sim_chip sim_chips[] = {
    // key            name                           cc     SMs  memory      block    opt-in    SM        own     regs   thr   blk  L2         kHz      mem kHz   bits  fp64  integrated
    {"h200",        "NVIDIA H200",                   9, 0,  132, 143156 * MB, 48 * KB, 227 * KB, 228 * KB, KB, 65536, 2048, 32,  60 * MB, 1980000,  3201000, 6016,  2, 0},
    {"h100",        "NVIDIA H100 80GB HBM3",         9, 0,  132,  80 * GB, 48 * KB, 227 * KB, 228 * KB, KB, 65536, 2048, 32,  50 * MB, 1980000,  2619000, 5120,  2, 0},
    {"a100",        "NVIDIA A100-SXM4-80GB",         8, 0,  108,  80 * GB, 48 * KB, 163 * KB, 164 * KB, KB, 65536, 2048, 32,  40 * MB, 1410000,  1593000, 5120,  2, 0},
    {"a10",         "NVIDIA A10",                    8, 6,   72,  24 * GB, 48 * KB,  99 * KB, 100 * KB, KB, 65536, 1536, 16,   6 * MB, 1695000,  6251000,  384, 64, 0},
    {"l4",          "NVIDIA L4",                     8, 9,   58,  24 * GB, 48 * KB,  99 * KB, 100 * KB, KB, 65536, 1536, 24,  48 * MB, 2040000,  6251000,  192, 64, 0},
    {"l40s",        "NVIDIA L40S",                   8, 9,  142,  48 * GB, 48 * KB,  99 * KB, 100 * KB, KB, 65536, 1536, 24,  96 * MB, 2520000,  9001000,  384, 64, 0},
    {"rtx4090",     "NVIDIA GeForce RTX 4090",       8, 9,  128,  24 * GB, 48 * KB,  99 * KB, 100 * KB, KB, 65536, 1536, 24,  72 * MB, 2520000, 10501000,  384, 64, 0},
    {"rtx3090",     "NVIDIA GeForce RTX 3090",       8, 6,   82,  24 * GB, 48 * KB,  99 * KB, 100 * KB, KB, 65536, 1536, 16,   6 * MB, 1695000,  9751000,  384, 64, 0},
    {"t4",          "Tesla T4",                      7, 5,   40,  16 * GB, 48 * KB,  64 * KB,  64 * KB, 0,  65536, 1024, 16,   4 * MB, 1590000,  5001000,  256, 32, 0},
    {"v100",        "Tesla V100-SXM2-32GB",          7, 0,   80,  32 * GB, 48 * KB,  96 * KB,  96 * KB, 0,  65536, 2048, 32,   6 * MB, 1530000,   877000, 4096,  2, 0},
    {"b200",        "NVIDIA B200",                  10, 0,  148, 180 * GB, 48 * KB, 227 * KB, 228 * KB, KB, 65536, 2048, 32, 126 * MB, 1965000,  3996000, 8192,  2, 0},
    {"gb200",       "NVIDIA GB200",                 10, 0,  152, 186 * GB, 48 * KB, 227 * KB, 228 * KB, KB, 65536, 2048, 32, 126 * MB, 2062000,  3996000, 8192,  2, 0},
    {"jetson-orin", "Orin",                          8, 7,   16,  32 * GB, 48 * KB, 163 * KB, 164 * KB, KB, 65536, 1536, 16,   4 * MB, 1300000,  3200000,  256, 64, 1},
    {"gtx1080ti",   "NVIDIA GeForce GTX 1080 Ti",    6, 1,   28,  11 * GB, 48 * KB,  48 * KB,  96 * KB, 0,  65536, 2048, 32, 2816 * KB, 1582000,  5505000,  352, 32, 0},
};
// clang-format on

const int sim_chip_count = sizeof sim_chips / sizeof sim_chips[0];
