// What a GPU computes where C++ leaves the result open: integer division by zero, shifts by too many bits, numbers out
// of range converted to integers, sums that overflow, shuffles from lanes that are not there. All inputs come from
// memory, so that no compiler knows them. One line per case; arithmetic.py stores a GPU's lines and compares.
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status = call;                                                                                     \
        if (status != cudaSuccess) {                                                                                   \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(status));                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef long long s64;
typedef unsigned long long u64;

// Inputs and results of one kernel: a thread takes one pair of inputs and gives one result per operation.
enum { INPUTS = 512, OPERATIONS = 32, LANES = 32, BLOCK = 64 };
struct table {
    char left[INPUTS * sizeof(u64)], right[INPUTS * sizeof(u64)];
    char name[INPUTS][64]; // the inputs as they are printed
    u64 results[INPUTS][OPERATIONS];
    int count;
};
static table *shared_table;

static void input_name(char *text, size_t room, s64 value)
{
    snprintf(text, room, "%lld", value);
}
static void input_name(char *text, size_t room, int value)
{
    snprintf(text, room, "%d", value);
}
static void input_name(char *text, size_t room, u64 value)
{
    snprintf(text, room, "%llu", value);
}
static void input_name(char *text, size_t room, unsigned value)
{
    snprintf(text, room, "%u", value);
}
static void input_name(char *text, size_t room, double value)
{
    snprintf(text, room, "%.17g", value != value ? fabs(value) : value);
}

template <class Left, class Right> void add_pair(Left left, Right right, bool show_right = true)
{
    table *to = shared_table;
    int i = to->count++;
    ((Left *)to->left)[i] = left;
    ((Right *)to->right)[i] = right;
    input_name(to->name[i], sizeof to->name[i], left);
    size_t used = strlen(to->name[i]);
    if (show_right) {
        to->name[i][used++] = ' ';
        input_name(to->name[i] + used, sizeof to->name[i] - used, right);
    }
}

enum form { INTEGER, FLOAT, DOUBLE };

// A NaN's other bits differ between machines, and nobody computes with them.
static void print_result(u64 bits, form how)
{
    float single;
    double number;
    unsigned low = (unsigned)bits;
    memcpy(&single, &low, sizeof single);
    memcpy(&number, &bits, sizeof number);
    if (how == FLOAT)
        number = single;
    if (how == INTEGER)
        printf("%#llx\n", bits);
    else if (number != number)
        printf("nan\n");
    else
        printf("%.17g\n", number);
}

// One line per operation and pair of inputs; then the table is empty again.
static void print_table(const char *type, const char *const *operations, form how)
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    table *of = shared_table;
    for (int operation = 0; operations[operation]; operation++)
        for (int i = 0; i < of->count; i++) {
            printf("%s %s %s = ", type, operations[operation], of->name[i]);
            print_result(of->results[i][operation], how);
        }
    of->count = 0;
}

#define LAUNCH(kernel) kernel<<<(shared_table->count + BLOCK - 1) / BLOCK, BLOCK>>>(shared_table)

// --- division, shifts, overflow --------------------------------------------------------------------------------------

static const char *const division_names[] = {"/", "%", "/=", "%=", NULL};

template <class Type> __global__ void divide(table *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to->count)
        return;
    Type a = ((Type *)to->left)[i], b = ((Type *)to->right)[i], c = a, d = a;
    c /= b;
    d %= b;
    to->results[i][0] = (u64)(a / b);
    to->results[i][1] = (u64)(a % b);
    to->results[i][2] = (u64)c;
    to->results[i][3] = (u64)d;
}

template <class Type, int Count> void divisions(const char *type, const Type (&dividends)[Count], Type largest)
{
    const Type divisors[] = {0, 1, 3, (Type)-1, largest};
    for (Type dividend : dividends)
        for (Type divisor : divisors)
            add_pair(dividend, divisor);
    LAUNCH(divide<Type>);
    print_table(type, division_names, INTEGER);
}

static void all_divisions()
{
    divisions<signed char>("s8", {0, 1, 7, -1, -7, SCHAR_MIN, SCHAR_MAX}, SCHAR_MAX);
    divisions<unsigned char>("u8", {0, 1, 7, 128, UCHAR_MAX}, UCHAR_MAX);
    divisions<short>("s16", {0, 1, 7, -1, -7, SHRT_MIN, SHRT_MAX}, SHRT_MAX);
    divisions<unsigned short>("u16", {0, 1, 7, 32768, USHRT_MAX}, USHRT_MAX);
    divisions<int>("s32", {0, 1, 7, 1000000007, -1, -7, INT_MIN, INT_MIN + 1, INT_MAX}, INT_MAX);
    divisions<unsigned>("u32", {0, 1, 7, 1000000007, 1u << 31, UINT_MAX - 1, UINT_MAX}, UINT_MAX);
    divisions<s64>("s64",
                   {0, 1, 7, INT_MAX, 1ll << 31, UINT_MAX, 1ll << 32, 1000000000000000003, -1, -7, INT_MIN,
                    -(1ll << 32), -1000000000000000003, LLONG_MIN, LLONG_MIN + 1, LLONG_MAX},
                   LLONG_MAX);
    divisions<u64>("u64",
                   {0, 1, 7, INT_MAX, 1ull << 31, UINT_MAX, 1ull << 32, 1000000000000000003, 1ull << 63, ULLONG_MAX - 1,
                    ULLONG_MAX},
                   ULLONG_MAX);
}

static const char *const shift_names[] = {"<<", ">>", "<<=", ">>=", NULL};

template <class Type> __global__ void shift(table *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to->count)
        return;
    Type a = ((Type *)to->left)[i], c = a, d = a;
    int count = ((int *)to->right)[i];
    c <<= count;
    d >>= count;
    to->results[i][0] = (u64)(a << count);
    to->results[i][1] = (u64)(a >> count);
    to->results[i][2] = (u64)c;
    to->results[i][3] = (u64)d;
}

template <class Type, int Count> void shifts(const char *type, const Type (&values)[Count])
{
    const int counts[] = {0, 1, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 257, INT_MAX, -1, INT_MIN};
    for (Type value : values)
        for (int count : counts)
            add_pair(value, count);
    LAUNCH(shift<Type>);
    print_table(type, shift_names, INTEGER);
}

static void all_shifts()
{
    shifts<unsigned char>("u8", {1, 255});
    shifts<short>("s16", {1, -1, SHRT_MIN});
    shifts<int>("s32", {1, 0x12345678, -1, INT_MIN});
    shifts<unsigned>("u32", {1, 0x12345678, UINT_MAX});
    shifts<s64>("s64", {1, 0x123456789abcdef, -1, LLONG_MIN});
    shifts<u64>("u64", {1, 0x123456789abcdef, ULLONG_MAX});
}

static const char *const overflow_names[] = {"+", "-", "*", "negated", "abs", NULL};

template <class Type> __global__ void overflow(table *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to->count)
        return;
    Type a = ((Type *)to->left)[i], b = ((Type *)to->right)[i];
    to->results[i][0] = (u64)(a + b);
    to->results[i][1] = (u64)(a - b);
    to->results[i][2] = (u64)(a * b);
    to->results[i][3] = (u64)-a;
    to->results[i][4] = (u64)abs(a);
}

template <class Type> void overflows(const char *type, Type smallest, Type largest)
{
    const Type values[] = {smallest, (Type)(smallest + 1), -1, 0, 1, 3, largest};
    for (Type a : values)
        for (Type b : values)
            add_pair(a, b);
    LAUNCH(overflow<Type>);
    print_table(type, overflow_names, INTEGER);
}

// --- conversions -----------------------------------------------------------------------------------------------------

static const char *const conversion_names[] = {"(signed char)", "(unsigned char)", "(short)",        "(unsigned short)",
                                               "(int)",         "(unsigned)",      "(long long)",    "(u64)",
                                               "static_cast 8", "static_cast 32",  "static_cast 64", "int()",
                                               "unsigned()",    "int =",           "unsigned =",     "long long =",
                                               "u64 =",         "lrint",           "llround",        NULL};

template <class From> __global__ void convert(table *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to->count)
        return;
    From value = ((From *)to->left)[i];
    u64 *results = to->results[i];
    results[0] = (u64)(signed char)value;
    results[1] = (unsigned char)value;
    results[2] = (u64)(short)value;
    results[3] = (unsigned short)value;
    results[4] = (u64)(int)value;
    results[5] = (unsigned)value;
    results[6] = (u64)(long long)value;
    results[7] = (unsigned long long)value;
    results[8] = static_cast<unsigned char>(value);
    results[9] = static_cast<unsigned int>(value);
    results[10] = static_cast<unsigned long long>(value);
    results[11] = int(value);
    results[12] = unsigned(value);
    int declared = value;
    unsigned int one = 1, other = value;
    const long long wide = value;
    unsigned long long wide_other = value;
    results[13] = (u64)declared;
    results[14] = one * other;
    results[15] = (u64)wide;
    results[16] = wide_other;
    results[17] = (u64)lrint(value);
    results[18] = (u64)llround(value);
}

static const double numbers[] = {0,
                                 -0.0,
                                 0.75,
                                 -0.75,
                                 -1,
                                 -1.5,
                                 127.5,
                                 128,
                                 -128.5,
                                 -129,
                                 255.5,
                                 256,
                                 300.7,
                                 32768,
                                 -32769,
                                 65536,
                                 70000,
                                 -70000,
                                 1e9,
                                 3e9,
                                 -3e9,
                                 5e9,
                                 -5e9,
                                 9.2e18,
                                 1.1e19,
                                 -1.1e19,
                                 1e20,
                                 -1e20,
                                 3e38,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 2147483520,
                                 2147483648.0,
                                 -2147483648.0,
                                 -2147483904.0,
                                 4294967040.0,
                                 4294967296.0,
                                 9223372036854775808.0,
                                 -9223372036854775808.0,
                                 18446744073709551616.0};

template <class From> void conversions(const char *type)
{
    for (double number : numbers)
        add_pair((From)number, 0, false);
    LAUNCH(convert<From>);
    print_table(type, conversion_names, INTEGER);
}

// --- floating point --------------------------------------------------------------------------------------------------

static const char *const floating_names[] = {"/", "min", "max", "*", NULL};

__device__ u64 bits_of(float value)
{
    return __float_as_uint(value);
}
__device__ u64 bits_of(double value)
{
    return (u64)__double_as_longlong(value);
}

template <class Type> __global__ void floating(table *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= to->count)
        return;
    Type a = ((Type *)to->left)[i], b = ((Type *)to->right)[i];
    to->results[i][0] = bits_of(a / b);
    to->results[i][1] = bits_of(fmin(a, b));
    to->results[i][2] = bits_of(fmax(a, b));
    to->results[i][3] = bits_of(a * b);
}

template <class Type> void floats(const char *type, form how)
{
    const double values[] = {0.0, -0.0, 1, -3, INFINITY, -INFINITY, NAN, 1e-40};
    for (double a : values)
        for (double b : values)
            add_pair((Type)a, (Type)b);
    LAUNCH(floating<Type>);
    print_table(type, floating_names, how);
}

// --- shuffles: one block per pair of argument and width, one result per lane -----------------------------------------

enum kind { INDEX, UP, DOWN, XOR };

template <kind Kind> __global__ void shuffle(table *to)
{
    int i = blockIdx.x, lane = threadIdx.x, argument = ((int *)to->left)[i], width = ((int *)to->right)[i], got;
    if (Kind == INDEX)
        got = __shfl_sync(0xffffffffu, lane, argument, width);
    else if (Kind == UP)
        got = __shfl_up_sync(0xffffffffu, lane, argument, width);
    else if (Kind == DOWN)
        got = __shfl_down_sync(0xffffffffu, lane, argument, width);
    else
        got = __shfl_xor_sync(0xffffffffu, lane, argument, width);
    to->results[i][lane] = (u64)got;
}

template <kind Kind> void shuffles(const char *name)
{
    table *of = shared_table;
    for (int width : {1, 8, 32})
        for (int argument : {0, 1, 5, 15, 16, 31, 32, 33, 40, 63, 64, 65, 1000, INT_MAX, -1, -5, -31, -32, INT_MIN})
            add_pair(argument, width);
    shuffle<Kind><<<of->count, LANES>>>(of);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < of->count; i++) {
        printf("%s %s =", name, of->name[i]);
        for (int lane = 0; lane < LANES; lane++)
            printf(" %llu", of->results[i][lane]);
        printf("\n");
    }
    of->count = 0;
}

int main()
{
    CHECK(cudaMallocManaged((void **)&shared_table, sizeof *shared_table));
    memset(shared_table, 0, sizeof *shared_table);
    all_divisions();
    all_shifts();
    overflows<int>("s32", INT_MIN, INT_MAX);
    overflows<s64>("s64", LLONG_MIN, LLONG_MAX);
    conversions<float>("f32");
    conversions<double>("f64");
    floats<float>("f32", FLOAT);
    floats<double>("f64", DOUBLE);
    shuffles<INDEX>("shfl");
    shuffles<UP>("shfl_up");
    shuffles<DOWN>("shfl_down");
    shuffles<XOR>("shfl_xor");
    CHECK(cudaFree(shared_table));
}
