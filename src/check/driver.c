// The main that heddle writes around a file of kernels. It only moves data: inputs come from files and outputs go to
// files, so that random numbers and references stay in one place.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/fields.h"
#include "check/operator.h"

const char *heddle_check_c_type(heddle_dtype dtype)
{
    switch (dtype) {
    case HEDDLE_F32: return "float";
    case HEDDLE_F64: return "double";
    case HEDDLE_I32: return "int";
    case HEDDLE_I64: return "long long";
    case HEDDLE_U8: return "unsigned char";
    case HEDDLE_I8: return "signed char";
    case HEDDLE_F16:
    case HEDDLE_F16_PAIR:
    case HEDDLE_BF16:
    case HEDDLE_F8_E4M3: break;
    }
    return NULL;
}

static const char *field_type(const heddle_field *field)
{
    return field->kind == HEDDLE_FIELD_INT ? "int" : "float";
}

int heddle_check_job_fields(const heddle_check_job *job, char *text, size_t size)
{
    int count = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int f = 0; f < job->op->field_count && used < size; f++) {
        bool set = false;
        for (int i = 0; i < job->count && !set; i++) {
            _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
            if (heddle_shape_parse(job->op, heddle_check_job_shape(job, i), shape) == HEDDLE_OK)
                set = heddle_check_is_unusual(&job->op->fields[f], shape);
        }
        if (set)
            used += (size_t)snprintf(text + used, size - used, "%s%s", count++ ? ", " : "", job->op->fields[f].name);
    }
    return count;
}

static bool is_wanted(const heddle_field *field, bool complete)
{
    return complete || isnan(field->initial);
}

// The operands and the fields that have to be there; the bracket is left open.
static size_t print_signature(const heddle_op *op, const char *function, bool complete, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "void %s(", function);
    for (int i = 0; i < op->operand_count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s%s *%s", i ? ", " : "",
                                 op->operands[i].role == HEDDLE_INPUT ? "const " : "",
                                 heddle_check_c_type(op->operands[i].dtype), op->operands[i].name);
    for (int i = 0; i < op->field_count && used < size; i++)
        if (is_wanted(&op->fields[i], complete))
            used +=
                (size_t)snprintf(text + used, size - used, ", %s %s", field_type(&op->fields[i]), op->fields[i].name);
    return used < size ? used : size - 1;
}

const char *heddle_check_job_signature(const heddle_op *op, const char *function, bool complete, char *text,
                                       size_t size)
{
    size_t used = print_signature(op, function, complete, text, size);
    snprintf(text + used, size - used, ")");
    return text;
}

const char *heddle_check_job_hint(const heddle_op *op, const char *function, char *text, size_t size)
{
    size_t used = print_signature(op, function, false, text, size);
    bool optional = false;
    for (int i = 0; i < op->field_count && used < size; i++) {
        if (isnan(op->fields[i].initial))
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s, %s %s", optional ? "" : "[", field_type(&op->fields[i]),
                                 op->fields[i].name);
        optional = true;
    }
    if (used < size)
        snprintf(text + used, size - used, "%s",
                 optional ? "]); the parameters in [ ] may be omitted, all together: it is then run with the defaults"
                          : ")");
    return text;
}

// --- pieces of the program -------------------------------------------------------------------------------------------

static void print_types(const heddle_op *op, bool complete, FILE *file)
{
    for (int i = 0; i < op->operand_count; i++)
        fprintf(file, ", %s *", heddle_check_c_type(op->operands[i].dtype));
    for (int i = 0; i < op->field_count; i++)
        if (is_wanted(&op->fields[i], complete))
            fprintf(file, ", %s", field_type(&op->fields[i]));
}

// What heddle's main calls the function. A kernel that it launches is called as in the file, so that findings call it
// that too, unless an operand or a field has that name, for these stand beside it.
static const char *name_of(const heddle_check_job *job)
{
    const heddle_op *op = job->op;
    bool taken = !job->launch[0];
    for (int i = 0; i < op->operand_count; i++)
        taken |= strcmp(op->operands[i].name, job->function) == 0;
    for (int i = 0; i < op->field_count; i++)
        taken |= strcmp(op->fields[i].name, job->function) == 0;
    return taken ? "function" : job->function;
}

// A kernel's launch may speak of every field.
static void print_launch(const heddle_check_job *job, FILE *file)
{
    for (int i = 0; i < job->op->field_count; i++)
        fprintf(file, "        [[maybe_unused]] const %s %s = (%s)heddle_one.field[%d];\n",
                field_type(&job->op->fields[i]), job->op->fields[i].name, field_type(&job->op->fields[i]), i);
    fprintf(file, "        %s<<<%s>>>(", name_of(job), job->launch);
}

static void print_call(const heddle_check_job *job, bool complete, FILE *file)
{
    const heddle_op *op = job->op;
    if (job->launch[0])
        print_launch(job, file);
    else
        fprintf(file, "        %s(", name_of(job));
    for (int i = 0; i < op->operand_count; i++)
        fprintf(file, "%s%s", i ? ", " : "", op->operands[i].name);
    for (int i = 0; i < op->field_count; i++)
        if (is_wanted(&op->fields[i], complete))
            fprintf(file, ", (%s)heddle_one.field[%d]", field_type(&op->fields[i]), i);
    fprintf(file, ");\n");
}

// A shape that the user asked for must not pass without having been compared.
static void print_refusal(const heddle_check_job *job, FILE *file)
{
    char fields[256];
    if (job->given && heddle_check_job_fields(job, fields, sizeof fields) > 0)
        fprintf(file,
                "        static_assert(sizeof(Function) == 0, \"heddle: --shape sets %s, which %s does not take; leave "
                "that out, or give %s the operator's optional fields as parameters\");\n",
                fields, job->function, job->function);
}

// Calls the function with all fields or with those that have no default, whichever it takes.
static void print_choice(const heddle_check_job *job, FILE *file)
{
    const heddle_op *op = job->op;
    char signature[2048];
    fprintf(file, "template <typename Function> static bool heddle_apply(Function %s, const heddle_case &heddle_one",
            name_of(job));
    for (int i = 0; i < op->operand_count; i++)
        fprintf(file, ", %s *%s", heddle_check_c_type(op->operands[i].dtype), op->operands[i].name);
    fprintf(file, ")\n{\n    if constexpr (std::is_invocable<Function");
    print_types(op, true, file);
    fprintf(file, ">::value) {\n        if (!heddle_one.complete)\n            return false;\n");
    print_call(job, true, file);
    fprintf(file, "        return true;\n    } else if constexpr (std::is_invocable<Function");
    print_types(op, false, file);
    fprintf(file, ">::value) {\n");
    print_refusal(job, file);
    fprintf(file, "        if (!heddle_one.plain)\n            return false;\n");
    print_call(job, false, file);
    fprintf(file,
            "        return true;\n    } else {\n        static_assert(sizeof(Function) == 0, \"heddle: the function "
            "should be %s\");\n"
            "        return false;\n    }\n}\n\n",
            heddle_check_job_hint(op, job->function, signature, sizeof signature));
}

static void print_cases(const heddle_check_job *job, FILE *file)
{
    fprintf(file, "static const heddle_case heddle_cases[] = {\n");
    for (int i = 0; i < job->count; i++) {
        _Alignas(max_align_t) char shape[HEDDLE_MAX_SHAPE_BYTES];
        if (heddle_shape_parse(job->op, heddle_check_job_shape(job, i), shape) != HEDDLE_OK)
            continue;
        fprintf(file, "    {%d, %d, {", heddle_check_takes(job->cases[i].kind, true),
                heddle_check_takes(job->cases[i].kind, false));
        for (int o = 0; o < job->op->operand_count; o++)
            fprintf(file, "%zu, ", heddle_operand_bytes(job->op, o, shape));
        fprintf(file, "}, {");
        for (int f = 0; f < job->op->field_count; f++)
            fprintf(file, "%.17g, ", heddle_check_field_value(&job->op->fields[f], shape));
        fprintf(file, "}},\n");
    }
    fprintf(file, "};\n\n");
}

static void print_run(const heddle_check_job *job, const char *folder, FILE *file)
{
    const heddle_op *op = job->op;
    fprintf(file,
            "static void heddle_run(int heddle_number)\n{\n    const heddle_case &heddle_one = "
            "heddle_cases[heddle_number];\n"
            "    heddle_begin(\"%s\", heddle_number);\n"
            "    FILE *heddle_input = heddle_open(\"%s\", heddle_number, \"in\", \"rb\");\n",
            folder, folder);
    for (int i = 0; i < op->operand_count; i++) {
        const char *name = op->operands[i].name;
        fprintf(file, "    %s *%s = nullptr;\n", heddle_check_c_type(op->operands[i].dtype), name);
        fprintf(file, "    heddle_check(%s(&%s, heddle_one.bytes[%d]));\n",
                op->operands[i].on_host ? "cudaMallocHost" : "cudaMalloc", name, i);
        if (op->operands[i].role != HEDDLE_OUTPUT)
            fprintf(file, "    heddle_fill(%s, heddle_one.bytes[%d], heddle_input);\n", name, i);
    }
    fprintf(file, "    fclose(heddle_input);\n    bool heddle_applied = heddle_apply(%s, heddle_one", job->function);
    for (int i = 0; i < op->operand_count; i++)
        fprintf(file, ", %s", op->operands[i].name);
    fprintf(
        file,
        ");\n    heddle_check(cudaGetLastError());\n    heddle_check(cudaDeviceSynchronize());\n"
        "    FILE *heddle_output = heddle_applied ? heddle_open(\"%s\", heddle_number, \"out\", \"wb\") : nullptr;\n"
        "    FILE *heddle_writers = heddle_applied ? heddle_open(\"%s\", heddle_number, \"by\", \"wb\") : nullptr;\n",
        folder, folder);
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i].role != HEDDLE_INPUT && !op->operands[i].saved)
            fprintf(file, "    heddle_save(%s, heddle_one.bytes[%d], heddle_output, heddle_writers);\n",
                    op->operands[i].name, i);
        fprintf(file, "    heddle_check(%s(%s));\n", op->operands[i].on_host ? "cudaFreeHost" : "cudaFree",
                op->operands[i].name);
    }
    fprintf(file, "    if (heddle_output && (fclose(heddle_output) != 0 || fclose(heddle_writers) != 0))\n"
                  "        heddle_unwritten();\n}\n\n");
}

static const char helpers[] =
    "#include <cstdio>\n#include <cstdlib>\n#include <type_traits>\n#include <vector>\n\n"
    "static void heddle_check(cudaError_t status)\n{\n"
    "    if (status == cudaSuccess)\n        return;\n"
    "    fprintf(stderr, \"heddle's main stopped: %s\\n\", cudaGetErrorString(status));\n    exit(1);\n}\n\n"
    "static FILE *heddle_open(const char *folder, int number, const char *kind, const char *mode)\n{\n"
    "    char path[1024];\n    snprintf(path, sizeof path, \"%s/case-%d.%s\", folder, number, kind);\n"
    "    FILE *file = fopen(path, mode);\n    if (!file)\n        exit(1);\n    return file;\n}\n\n"
    "static void heddle_unwritten()\n{\n"
    "    perror(\"heddle's main stopped: it cannot write the output\");\n    exit(1);\n}\n\n"
    "static void heddle_begin(const char *folder, int number)\n{\n"
    "    char path[1024];\n    snprintf(path, sizeof path, \"%s/case-at\", folder);\n"
    "    FILE *file = fopen(path, \"wb\");\n"
    "    if (!file || fwrite(&number, sizeof number, 1, file) != 1 || fclose(file) != 0)\n        exit(1);\n}\n\n"
    "static void heddle_fill(void *device, size_t bytes, FILE *file)\n{\n"
    "    std::vector<char> host(bytes);\n"
    "    if (fread(host.data(), 1, bytes, file) != bytes)\n        exit(1);\n"
    "    if (bytes)\n        heddle_check(cudaMemcpy(device, host.data(), bytes, cudaMemcpyDefault));\n}\n\n"
    "extern \"C\" void sim_writer(const void *address, int place[6]);\n"
    "template <class T> static void heddle_save(const T *device, size_t bytes, FILE *file, FILE *writers)\n{\n"
    "    std::vector<char> host(bytes);\n    if (!file)\n        return;\n"
    "    if (bytes)\n        heddle_check(cudaMemcpy(host.data(), device, bytes, cudaMemcpyDefault));\n"
    "    if (fwrite(host.data(), 1, bytes, file) != bytes)\n        heddle_unwritten();\n"
    "    for (size_t i = 0; i < bytes / sizeof(T); i++) {\n"
    "        int place[6];\n"
    "        sim_writer(device + i, place);\n"
    "        if (fwrite(place, sizeof place, 1, writers) != 1)\n            heddle_unwritten();\n    }\n}\n\n";

void heddle_check_driver_print(const heddle_check_job *job, const char *const *sources, const char *folder, FILE *file)
{
    fprintf(file, "// Written by heddle check --op %s.\n", job->op->name);
    for (int i = 0; sources[i]; i++)
        fprintf(file, "#include \"%s\"\n", sources[i]);
    fputs(helpers, file);
    fprintf(file,
            "struct heddle_case {\n    bool complete, plain; // which functions take it\n    size_t bytes[%d];\n    "
            "double field[%d];\n};\n\n",
            job->op->operand_count, job->op->field_count > 0 ? job->op->field_count : 1);
    print_cases(job, file);
    print_choice(job, file);
    print_run(job, folder, file);
    fprintf(file,
            "int main()\n{\n    for (int number = 0; number < %d; number++)\n        heddle_run(number);\n"
            "    heddle_begin(\"%s\", %d); // behind the last: it came to its end\n}\n",
            job->count, folder, job->count);
}
