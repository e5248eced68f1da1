// The state and the parameters of MTGP32, the Mersenne twister for GPUs (M. Saito, M. Matsumoto: Variants of Mersenne
// Twister suitable for graphic processors, ACM Trans. Math. Softw. 39, 2013), as cuRAND lays them out.
#pragma once
#define CURAND_MTGP32_H          // cuRAND's table of parameters includes its own header of this name

#define MTGPDC_MEXP              11213
#define MTGPDC_N                 351
#define MTGPDC_FLOOR_2P          256
#define MTGPDC_CEIL_2P           512
#define MTGPDC_PARAM_TABLE       mtgp32dc_params_fast_11213
#define MTGP32_STATE_SIZE        1024
#define MTGP32_STATE_MASK        1023
#define CURAND_NUM_MTGP32_PARAMS 200
#define TBL_SIZE                 16

// One twister.
struct mtgp32_params_fast {
    int mexp;                                                             // period: 2 to the power of this, minus 1
    int pos;                                                              // which word is mixed in
    int sh1, sh2;                                                         // shifts
    unsigned int tbl[TBL_SIZE], tmp_tbl[TBL_SIZE], flt_tmp_tbl[TBL_SIZE]; // of the recurrence, of tempering
    unsigned int mask;
    unsigned char poly_sha1[21];
};
typedef struct mtgp32_params_fast mtgp32_params_fast_t;

// All twisters, as kernels read them.
struct mtgp32_kernel_params {
    unsigned int pos_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned int param_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
    unsigned int temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
    unsigned int single_temper_tbl[CURAND_NUM_MTGP32_PARAMS][TBL_SIZE];
    unsigned int sh1_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned int sh2_tbl[CURAND_NUM_MTGP32_PARAMS];
    unsigned int mask[1];
};
typedef struct mtgp32_kernel_params mtgp32_kernel_params_t;

// Shared by a block.
struct curandStateMtgp32 {
    unsigned int s[MTGP32_STATE_SIZE];
    int offset, pIdx; // where the oldest word is; which twister
    mtgp32_kernel_params_t *k;
};
typedef struct curandStateMtgp32 curandStateMtgp32_t;
