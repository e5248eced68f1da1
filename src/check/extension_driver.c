// The main that heddle writes around a kernel. Each argument is a type of its own that turns into what the parameter
// asks for, or says in one line why it cannot: the compiler knows the types of parameters, and heddle need not guess.

#include <math.h>
#include <string.h>

#include "check/extension.h"
#include "sim/source/lexer.h"

// What the elements are called in the program.
static const char *element_type(heddle_npy_type type)
{
    static const char *const names[HEDDLE_NPY_TYPES] = {
        [HEDDLE_NPY_F32] = "float",          [HEDDLE_NPY_F64] = "double",         [HEDDLE_NPY_F16] = "c10::Half",
        [HEDDLE_NPY_BF16] = "c10::BFloat16", [HEDDLE_NPY_I8] = "signed char",     [HEDDLE_NPY_U8] = "unsigned char",
        [HEDDLE_NPY_I16] = "short",          [HEDDLE_NPY_U16] = "unsigned short", [HEDDLE_NPY_I32] = "int",
        [HEDDLE_NPY_U32] = "unsigned",       [HEDDLE_NPY_I64] = "long",           [HEDDLE_NPY_U64] = "unsigned long",
        [HEDDLE_NPY_BOOL] = "bool",
    };
    return names[type];
}

// A tensor of numbers is passed only to a parameter of the same type. A parameter of any other type (float4, a
// structure of the user's) takes a tensor whose elements fill it exactly.
static const char helpers[] =
    "#include <cstddef>\n#include <cstdio>\n#include <cstdlib>\n#include <type_traits>\n#include <vector>\n\n"
    "static void heddle_check(cudaError_t status)\n{\n"
    "    if (status == cudaSuccess)\n        return;\n"
    "    fprintf(stderr, \"heddle's main stopped: %s\\n\", cudaGetErrorString(status));\n    exit(1);\n}\n\n"
    "static void heddle_stop(const char *path)\n{\n    perror(path);\n    exit(1);\n}\n\n"
    "static void heddle_fill(void *device, size_t bytes, const char *path)\n{\n"
    "    std::vector<char> host(bytes + 1);\n    FILE *file = fopen(path, \"rb\");\n"
    "    if (!file || fread(host.data(), 1, bytes, file) != bytes)\n        heddle_stop(path);\n    fclose(file);\n"
    "    if (bytes)\n        heddle_check(cudaMemcpy(device, host.data(), bytes, cudaMemcpyDefault));\n}\n\n"
    "extern \"C\" void sim_writer(const void *address, int place[6]);\n"
    "static void heddle_save(const char *device, size_t count, size_t size, const char *path, const char *by)\n{\n"
    "    std::vector<char> host(count * size + 1);\n"
    "    if (count)\n        heddle_check(cudaMemcpy(host.data(), device, count * size, cudaMemcpyDefault));\n"
    "    FILE *file = fopen(path, \"wb\"), *writers = fopen(by, \"wb\");\n"
    "    if (!file || !writers || fwrite(host.data(), size, count, file) != count)\n        heddle_stop(path);\n"
    "    for (size_t i = 0; i < count; i++) {\n        int place[6];\n"
    "        sim_writer(device + i * size, place);\n"
    "        if (fwrite(place, sizeof place, 1, writers) != 1)\n            heddle_stop(by);\n    }\n"
    "    if (fclose(file) != 0 || fclose(writers) != 0)\n        heddle_stop(path);\n}\n\n"
    "template <class T> constexpr bool heddle_is_16bit = std::is_same_v<T, c10::Half> || std::is_same_v<T, __half> ||\n"
    "    std::is_same_v<T, c10::BFloat16> || std::is_same_v<T, __nv_bfloat16>;\n"
    "template <class T, class E> constexpr bool heddle_takes()\n{\n"
    "    typedef std::remove_cv_t<T> P;\n"
    "    if constexpr (std::is_void_v<P> || std::is_same_v<P, E> || std::is_same_v<P, std::byte>)\n        return "
    "true;\n"
    "    else if constexpr (std::is_same_v<P, __half>)\n        return std::is_same_v<E, c10::Half>;\n"
    "    else if constexpr (std::is_same_v<P, __nv_bfloat16>)\n        return std::is_same_v<E, c10::BFloat16>;\n"
    "    else if constexpr (std::is_integral_v<P>)\n"
    "        return (std::is_integral_v<E> && sizeof(P) == sizeof(E)) || std::is_same_v<P, char> ||\n"
    "               std::is_same_v<P, unsigned char>;\n"
    "    else if constexpr (std::is_class_v<P> && !heddle_is_16bit<P>)\n        return sizeof(P) % sizeof(E) == 0;\n"
    "    else\n        return false;\n}\n"
    "template <class T> constexpr bool heddle_is_number = std::is_arithmetic_v<T> || std::is_enum_v<T> || "
    "heddle_is_16bit<T>;\n"
    "template <class T> constexpr bool heddle_is_empty = std::is_empty_v<T> && std::is_default_constructible_v<T>;\n\n";

// A parameter as the kernel declares it, for a message in a string of C++.
static void print_parameter(const heddle_check_parameter *parameter, FILE *file)
{
    for (const char *c = parameter->type; *c; c++)
        fputc(*c == '"' || *c == '\\' ? '\'' : *c, file);
    fprintf(file, " %s", parameter->name);
}

// What a parameter points to, with the template's arguments put in: "double" for const T * of twice<double>. Returns
// `text`.
static const char *pointed_to(const heddle_check_extension *extension, const heddle_check_parameter *parameter,
                              char *text, size_t size)
{
    const heddle_check_global *kernel = extension->kernel;
    const char *open = strchr(extension->instance, '<');
    snprintf(text, size, "of another type");
    for (int i = 0; open && i < kernel->template_count && *open && *open != '>'; i++) {
        const char *first = open + 1 + strspn(open + 1, " ");
        int depth = 0;
        for (open = first; *open && (depth > 0 || (*open != ',' && *open != '>')); open++)
            depth += *open == '<' || *open == '(' ? 1 : *open == '>' || *open == ')' ? -1 : 0;
        const char *name = strstr(parameter->type, kernel->template_names[i]);
        size_t length = strlen(kernel->template_names[i]);
        bool whole = name && (name == parameter->type || !sim_is_name(name[-1])) && !sim_is_name(name[length]);
        if (kernel->template_is_type[i] && whole)
            snprintf(text, size, "%.*s", (int)(open - first), first);
    }
    static const char *const plain[] = {"float", "double", "int", "int64_t", "half", "bool"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const char *name = strstr(parameter->type, plain[i]);
        if (name && (name == parameter->type || name[-1] == ' ') && !sim_is_name(name[strlen(plain[i])]))
            snprintf(text, size, "%s", plain[i]);
    }
    return text;
}

static void print_tensor_type(const heddle_check_extension *extension, int number, FILE *file)
{
    const heddle_check_argument *one = extension->arguments[number];
    const heddle_check_parameter *parameter = &extension->kernel->parameters[number];
    const char *type = element_type(one->type);
    char pointed[256];
    fprintf(file, "struct heddle_argument_%d {\n    char *at;\n", number);
    fprintf(file,
            "    template <class T> operator T *() const\n    {\n"
            "        static_assert(heddle_takes<T, %s>(), \"heddle: --args says %s for ",
            type, heddle_npy_name(one->type));
    print_parameter(parameter, file);
    fprintf(file, ", which is %s in %s; change the type in --args, or the template's arguments\");\n",
            pointed_to(extension, parameter, pointed, sizeof pointed), extension->kernel->name);
    fprintf(file, "        return reinterpret_cast<T *>(at);\n    }\n"
                  "    template <class T, size_t N, template <typename U> class Traits, typename I>\n"
                  "    operator at::GenericPackedTensorAccessor<T, N, Traits, I>() const\n    {\n");
    fprintf(file, "        static_assert(heddle_takes<T, %s>(), \"heddle: --args says %s for ", type,
            heddle_npy_name(one->type));
    print_parameter(parameter, file);
    fprintf(file,
            ", whose accessor has another type\");\n"
            "        static_assert(N == %d, \"heddle: %s has %d sizes in --args, and its accessor another number\");\n",
            one->rank, one->name, one->rank);
    fprintf(file, "        static const int64_t sizes[] = {");
    for (int d = 0; d < one->rank; d++)
        fprintf(file, "%lld, ", (long long)one->dims[d]);
    fprintf(file, "0}, strides[] = {");
    for (int d = 0; d < one->rank; d++) {
        long long stride = 1;
        for (int i = d + 1; i < one->rank; i++)
            stride *= one->dims[i];
        fprintf(file, "%lld, ", stride);
    }
    fprintf(file,
            "0};\n        return at::GenericPackedTensorAccessor<T, N, Traits, I>(reinterpret_cast<T *>(at), sizes, "
            "strides);\n    }\n"
            "    template <class T> operator T() const\n    {\n        static_assert(sizeof(T) == 0, \"heddle: ");
    print_parameter(parameter, file);
    fprintf(file,
            " of %s is neither a pointer nor an accessor: heddle cannot make one of a tensor; write a main that "
            "does, and name it by --driver FILE.cu\");\n        return T();\n    }\n};\n",
            extension->kernel->name);
}

static void print_number(const heddle_check_argument *one, FILE *file)
{
    if (one->is_whole)
        fprintf(file, "%lldLL", one->whole);
    else if (isinf(one->number))
        fprintf(file, "%s__builtin_inf()", one->number < 0 ? "-" : "");
    else
        fprintf(file, "%a", one->number);
}

static void print_number_type(const heddle_check_extension *extension, int number, FILE *file)
{
    const heddle_check_argument *one = extension->arguments[number];
    const heddle_check_parameter *parameter = &extension->kernel->parameters[number];
    fprintf(file,
            "struct heddle_argument_%d {\n    template <class T> operator T() const\n    {\n"
            "        if constexpr (heddle_is_empty<T>)\n            return T(); // an operation as a type\n"
            "        else if constexpr (std::is_same_v<T, at::PhiloxCudaState>)\n            return T((uint64_t)",
            number);
    print_number(one, file);
    fprintf(file, ", 0);\n        else\n            return convert<T>();\n    }\n"
                  "    template <class T> static T convert()\n    {\n"
                  "        static_assert(heddle_is_number<T>, \"heddle: ");
    print_parameter(parameter, file);
    fprintf(file,
            " of %s is not a number: heddle cannot make one; write a main that does, and name it by --driver "
            "FILE.cu\");\n",
            extension->kernel->name);
    if (one->is_whole) {
        fprintf(file, "        if constexpr (std::is_integral_v<T>)\n            static_assert((long long)(T)");
        print_number(one, file);
        fprintf(file, " == ");
        print_number(one, file);
        fprintf(file, ", \"heddle: --args: %s = %lld does not fit into ", one->name, one->whole);
        print_parameter(parameter, file);
        fprintf(file, "\");\n        if constexpr (heddle_is_16bit<T>)\n            return T((float)");
        print_number(one, file);
        fprintf(file, ");\n        else\n            return (T)");
    } else {
        fprintf(file, "        static_assert(!std::is_integral_v<T>, \"heddle: --args: %s = %g is not whole, and ",
                one->name, one->number);
        print_parameter(parameter, file);
        fprintf(file, " is\");\n        if constexpr (heddle_is_16bit<T>)\n            return T((float)");
        print_number(one, file);
        fprintf(file, ");\n        else\n            return (T)");
    }
    print_number(one, file);
    fprintf(file, ";\n    }\n};\n");
}

// A variable has the parameter's name, so that findings call its memory that; a kernel of that name would be hidden.
static void print_variable(const heddle_check_extension *extension, int number, FILE *file)
{
    const char *name = extension->kernel->parameters[number].name;
    fprintf(file, "%s%s", name, strcmp(name, extension->kernel->name) == 0 ? "_" : "");
}

static void print_tensor(const heddle_check_extension *extension, const char *folder, int number, FILE *file)
{
    const heddle_check_argument *one = extension->arguments[number];
    unsigned long long bytes = (unsigned long long)one->count * heddle_npy_size(one->type);
    fprintf(file, "    char *");
    print_variable(extension, number, file);
    fprintf(file, " = nullptr;\n    heddle_check(cudaMalloc(&");
    print_variable(extension, number, file);
    fprintf(file, ", %llu));\n", bytes);
    if (one->role == HEDDLE_CHECK_OUT)
        return;
    fprintf(file, "    heddle_fill(");
    print_variable(extension, number, file);
    fprintf(file, ", %llu, \"%s/argument-%d.in\");\n", bytes, folder, number);
}

static bool is_tensor(const heddle_check_argument *one)
{
    return one->role != HEDDLE_CHECK_NUMBER && one->role != HEDDLE_CHECK_NULL;
}

static void print_launch(const heddle_check_extension *extension, FILE *file)
{
    const int64_t *grid = extension->grid, *block = extension->block;
    const int allowed_without_asking = 48 << 10;
    if (extension->shared > allowed_without_asking)
        fprintf(file,
                "    heddle_check(cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, %lld));\n",
                extension->instance, (long long)extension->shared);
    fprintf(file, "    %s<<<dim3(%lld, %lld, %lld), dim3(%lld, %lld, %lld), %lld>>>(", extension->instance,
            (long long)grid[0], (long long)grid[1], (long long)grid[2], (long long)block[0], (long long)block[1],
            (long long)block[2], (long long)extension->shared);
    for (int i = 0; i < extension->count; i++) {
        const heddle_check_argument *one = extension->arguments[i];
        fprintf(file, "%s", i ? ", " : "");
        if (one->role == HEDDLE_CHECK_NULL) {
            fprintf(file, "nullptr");
        } else if (one->role == HEDDLE_CHECK_NUMBER) {
            fprintf(file, "heddle_argument_%d{}", i);
        } else {
            fprintf(file, "heddle_argument_%d{", i);
            print_variable(extension, i, file);
            fprintf(file, "}");
        }
    }
    fprintf(file, ");\n    heddle_check(cudaGetLastError());\n    heddle_check(cudaDeviceSynchronize());\n");
}

static void print_main(const heddle_check_extension *extension, const char *folder, FILE *file)
{
    fprintf(file, "\nint main()\n{\n");
    for (int i = 0; i < extension->count; i++)
        if (is_tensor(extension->arguments[i]))
            print_tensor(extension, folder, i, file);
    print_launch(extension, file);
    for (int i = 0; i < extension->count; i++) {
        const heddle_check_argument *one = extension->arguments[i];
        if (one->role == HEDDLE_CHECK_OUT || one->role == HEDDLE_CHECK_INOUT) {
            fprintf(file, "    heddle_save(");
            print_variable(extension, i, file);
            fprintf(file, ", %lld, %zu, \"%s/argument-%d.out\", \"%s/argument-%d.by\");\n", (long long)one->count,
                    heddle_npy_size(one->type), folder, i, folder, i);
        }
        if (is_tensor(one)) {
            fprintf(file, "    heddle_check(cudaFree(");
            print_variable(extension, i, file);
            fprintf(file, "));\n");
        }
    }
    fprintf(file, "}\n");
}

void heddle_check_extension_print(const heddle_check_extension *extension, const char *const *sources,
                                  const char *folder, FILE *file)
{
    fprintf(file, "// Written by heddle check.\n#include \"sim/torch.h\"\n");
    for (int i = 0; sources[i]; i++)
        fprintf(file, "#include \"%s\"\n", sources[i]);
    if (extension->driver) {
        fprintf(file, "#include \"%s\"\n", extension->driver);
        return;
    }
    fputs(helpers, file);
    for (int i = 0; i < extension->count; i++) {
        if (is_tensor(extension->arguments[i]))
            print_tensor_type(extension, i, file);
        else if (extension->arguments[i]->role == HEDDLE_CHECK_NUMBER)
            print_number_type(extension, i, file);
    }
    print_main(extension, folder, file);
}
