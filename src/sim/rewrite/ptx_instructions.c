// The PTX instructions that are known, each as a C++ expression.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewrite/ptx.h"

// --- types and registers ---------------------------------------------------------------------------------------------

const char *sim_ptx_type(const char *part)
{
    static const char *const types[][2] = {{"u8", "unsigned char"},    {"s8", "signed char"},
                                           {"b8", "unsigned char"},    {"u16", "unsigned short"},
                                           {"s16", "short"},           {"b16", "unsigned short"},
                                           {"u32", "unsigned int"},    {"s32", "int"},
                                           {"b32", "unsigned int"},    {"u64", "unsigned long long"},
                                           {"s64", "long long"},       {"b64", "unsigned long long"},
                                           {"f32", "float"},           {"f64", "double"},
                                           {"f16", "unsigned short"},  {"f16x2", "unsigned int"},
                                           {"bf16", "unsigned short"}, {"bf16x2", "unsigned int"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(part, types[i][0]) == 0)
            return types[i][1];
    return NULL;
}

const char *sim_ptx_special(const char *name)
{
    static const char *const registers[][2] = {{"laneid", "sim_register_special(SIM_LANE_ID)"},
                                               {"warpid", "sim_register_special(SIM_WARP_ID)"},
                                               {"smid", "sim_register_special(SIM_SM_ID)"},
                                               {"lanemask_eq", "(1u << sim_register_special(SIM_LANE_ID))"},
                                               {"lanemask_lt", "((1u << sim_register_special(SIM_LANE_ID)) - 1u)"},
                                               {"lanemask_le", "((2u << sim_register_special(SIM_LANE_ID)) - 1u)"},
                                               {"lanemask_gt", "(~((2u << sim_register_special(SIM_LANE_ID)) - 1u))"},
                                               {"lanemask_ge", "(~((1u << sim_register_special(SIM_LANE_ID)) - 1u))"},
                                               {"clock", "(unsigned int)sim_clock()"},
                                               {"clock_hi", "(unsigned int)((unsigned long long)sim_clock() >> 32)"},
                                               {"clock64", "(unsigned long long)sim_clock()"},
                                               {"globaltimer", "sim_time_ns()"},
                                               {"globaltimer_lo", "(unsigned int)sim_time_ns()"},
                                               {"globaltimer_hi", "(unsigned int)(sim_time_ns() >> 32)"},
                                               {"tid.x", "threadIdx.x"},
                                               {"tid.y", "threadIdx.y"},
                                               {"tid.z", "threadIdx.z"},
                                               {"ntid.x", "blockDim.x"},
                                               {"ntid.y", "blockDim.y"},
                                               {"ntid.z", "blockDim.z"},
                                               {"ctaid.x", "blockIdx.x"},
                                               {"ctaid.y", "blockIdx.y"},
                                               {"ctaid.z", "blockIdx.z"},
                                               {"nctaid.x", "gridDim.x"},
                                               {"nctaid.y", "gridDim.y"},
                                               {"nctaid.z", "gridDim.z"},
                                               {"dynamic_smem_size", "(unsigned int)sim_dynamic_shared_bytes()"},
                                               {"WARP_SZ", "32u"}};
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++)
        if (strcmp(name, registers[i][0]) == 0)
            return registers[i][1];
    return NULL;
}

static bool has(const sim_ptx_instruction *instruction, const char *part)
{
    for (int i = 1; i < instruction->parts; i++)
        if (strcmp(instruction->part[i], part) == 0)
            return true;
    return false;
}

static bool has_any(const sim_ptx_instruction *instruction, const char *const *parts)
{
    for (; *parts; parts++)
        if (has(instruction, *parts))
            return true;
    return false;
}

static bool is(const sim_ptx_instruction *instruction, const char *name)
{
    return strcmp(instruction->part[0], name) == 0;
}

// The n-th type from the end: cvt.f32.u32 has two.
static const char *type_from_end(const sim_ptx_instruction *instruction, int nth)
{
    int i = instruction->parts - 1 - nth;
    return i > 0 ? sim_ptx_type(instruction->part[i]) : NULL;
}

static const char *scope_of(const sim_ptx_instruction *instruction)
{
    return has(instruction, "cta")   ? "SIM_SCOPE_BLOCK"
           : has(instruction, "sys") ? "SIM_SCOPE_SYSTEM"
                                     : "SIM_SCOPE_DEVICE";
}

// --- arithmetic ------------------------------------------------------------------------------------------------------

typedef struct ptx_formula {
    const char *name; // with the parts that matter
    int operands;     // besides the destination
    const char *text; // $1 ...: an operand as the instruction's type; #1: as written; T: the type, W: twice as wide
} ptx_formula;

static const ptx_formula formulas[] = {
    {"mov", 1, "$1"},
    {"add", 2, "$1 + $2"},
    {"sub", 2, "$1 - $2"},
    {"mul", 2, "$1 * $2"},
    {"mul.lo", 2, "$1 * $2"},
    {"mul.hi", 2, "sim::ptx_high_product($1, $2)"},
    {"mul.wide", 2, "(W)$1 * (W)$2"},
    {"mad", 3, "$1 * $2 + $3"},
    {"mad.lo", 3, "$1 * $2 + $3"},
    {"mad.wide", 3, "(W)$1 * (W)$2 + sim::ptx_get<W>(#3)"},
    {"mul24.lo", 2, "$1 * $2"},
    {"add.cc", 2, "sim::ptx_add($1, $2, 0, &sim_ptx_carry)"},
    {"addc", 2, "sim::ptx_add($1, $2, sim_ptx_carry)"},
    {"addc.cc", 2, "sim::ptx_add($1, $2, sim_ptx_carry, &sim_ptx_carry)"},
    {"sub.cc", 2, "sim::ptx_subtract($1, $2, 0, &sim_ptx_carry)"},
    {"subc", 2, "sim::ptx_subtract($1, $2, sim_ptx_carry)"},
    {"subc.cc", 2, "sim::ptx_subtract($1, $2, sim_ptx_carry, &sim_ptx_carry)"},
    {"mad.lo.cc", 3, "sim::ptx_add<T>($1 * $2, $3, 0, &sim_ptx_carry)"},
    {"madc.lo", 3, "sim::ptx_add<T>($1 * $2, $3, sim_ptx_carry)"},
    {"madc.lo.cc", 3, "sim::ptx_add<T>($1 * $2, $3, sim_ptx_carry, &sim_ptx_carry)"},
    {"mad.hi.cc", 3, "sim::ptx_add<T>(sim::ptx_high_product($1, $2), $3, 0, &sim_ptx_carry)"},
    {"madc.hi", 3, "sim::ptx_add<T>(sim::ptx_high_product($1, $2), $3, sim_ptx_carry)"},
    {"madc.hi.cc", 3, "sim::ptx_add<T>(sim::ptx_high_product($1, $2), $3, sim_ptx_carry, &sim_ptx_carry)"},
    {"fma", 3, "sim::ptx_fma($1, $2, $3)"},
    {"div", 2, "$1 / $2"},
    {"rem", 2, "$1 % $2"},
    {"min", 2, "sim::ptx_min($1, $2)"},
    {"max", 2, "sim::ptx_max($1, $2)"},
    {"and", 2, "$1 & $2"},
    {"or", 2, "$1 | $2"},
    {"xor", 2, "$1 ^ $2"},
    {"not", 1, "~$1"},
    {"cnot", 1, "$1 == 0"},
    {"neg", 1, "-$1"},
    {"abs", 1, "sim::ptx_abs($1)"},
    {"shl", 2, "sim::ptx_shift_left($1, sim::ptx_get<unsigned int>(#2))"},
    {"shr", 2, "sim::ptx_shift_right($1, sim::ptx_get<unsigned int>(#2))"},
    {"popc", 1, "(unsigned int)__builtin_popcountll($1)"},
    {"clz", 1, "sim::ptx_leading_zeros($1)"},
    {"brev", 1, "sim::ptx_reverse($1)"},
    {"bfe", 3, "sim::ptx_extract($1, sim::ptx_get<unsigned int>(#2), sim::ptx_get<unsigned int>(#3))"},
    {"bfi", 4, "sim::ptx_insert($1, $2, sim::ptx_get<unsigned int>(#3), sim::ptx_get<unsigned int>(#4))"},
    {"bfind", 1, "sim::ptx_find($1)"},
    {"prmt", 3, "__byte_perm($1, $2, $3)"},
    {"lop3", 4, "sim::ptx_logic($1, $2, $3, #4)"},
    {"shf.l.wrap", 3, "__funnelshift_l($1, $2, $3)"},
    {"shf.r.wrap", 3, "__funnelshift_r($1, $2, $3)"},
    {"shf.l.clamp", 3, "__funnelshift_lc($1, $2, $3)"},
    {"shf.r.clamp", 3, "__funnelshift_rc($1, $2, $3)"},
    {"selp", 3, "(#3) ? $1 : $2"},
    {"setp.eq", 2, "$1 == $2"},
    {"setp.ne", 2, "$1 != $2"},
    {"setp.lt", 2, "$1 < $2"},
    {"setp.le", 2, "$1 <= $2"},
    {"setp.gt", 2, "$1 > $2"},
    {"setp.ge", 2, "$1 >= $2"},
    {"setp.lo", 2, "$1 < $2"},
    {"setp.ls", 2, "$1 <= $2"},
    {"setp.hi", 2, "$1 > $2"},
    {"setp.hs", 2, "$1 >= $2"},
    {"rcp", 1, "(T)1 / $1"},
    {"sqrt", 1, "sim::ptx_sqrt($1)"},
    {"rsqrt", 1, "(T)1 / sim::ptx_sqrt($1)"},
    {"ex2", 1, "exp2f($1)"},
    {"lg2", 1, "log2f($1)"},
    {"sin", 1, "sinf($1)"},
    {"cos", 1, "cosf($1)"},
    {"tanh", 1, "tanhf($1)"},
    {"sad", 3, "sim::ptx_max($1, $2) - sim::ptx_min($1, $2) + $3"},
    {"vabsdiff4.add", 3, "__vsadu4($1, $2) + $3"},
};

static bool is_half(const sim_ptx_instruction *instruction)
{
    static const char *const halves[] = {"f16", "f16x2", "bf16", "bf16x2", NULL};
    return has_any(instruction, halves) && !is(instruction, "mov") && !is(instruction, "selp");
}

// op with the parts that are neither type nor a remark about rounding to the nearest.
static void key_of(const sim_ptx_instruction *instruction, char *key, size_t room)
{
    static const char *const remarks[] = {"rn", "ftz", "approx", "full", "noftz", NULL};
    size_t length = (size_t)snprintf(key, room, "%s", instruction->part[0]);
    for (int i = 1; i < instruction->parts && length < room; i++) {
        bool remark = sim_ptx_type(instruction->part[i]) != NULL;
        for (int r = 0; remarks[r]; r++)
            remark |= strcmp(instruction->part[i], remarks[r]) == 0;
        if (!remark)
            length += (size_t)snprintf(key + length, room - length, ".%s", instruction->part[i]);
    }
}

static const char *twice(const char *type)
{
    return strcmp(type, "int") == 0              ? "long long"
           : strcmp(type, "short") == 0          ? "int"
           : strcmp(type, "unsigned short") == 0 ? "unsigned int"
                                                 : "unsigned long long";
}

static void expand(const sim_ptx_instruction *instruction, const ptx_formula *formula, const char *type, sim_text *out)
{
    for (const char *at = formula->text; *at; at++) {
        if ((*at == '$' || *at == '#') && at[1] >= '1' && at[1] <= '4') {
            const char *operand = instruction->operand[at[1] - '0'];
            if (*at == '$')
                sim_text_print(out, "sim::ptx_get<%s>(%s)", type, operand);
            else
                sim_text_add(out, operand);
            at++;
        } else if ((*at == 'T' || *at == 'W') && (at[1] == ')' || at[1] == '>')) {
            sim_text_add(out, *at == 'T' ? type : twice(type));
        } else {
            sim_text_add_bytes(out, at, 1);
        }
    }
}

static bool arithmetic(const sim_ptx_instruction *instruction, sim_text *out)
{
    char key[SIM_PTX_NAME * 2];
    const char *type = type_from_end(instruction, 0);
    bool predicate = instruction->parts > 1 && strcmp(instruction->part[instruction->parts - 1], "pred") == 0;
    if (predicate)
        type = "bool";
    if (is(instruction, "vabsdiff4") && !has(instruction, "s32"))
        type = type_from_end(instruction, 1); // what is done with the four comes last
    key_of(instruction, key, sizeof key);
    if (predicate)
        key[strlen(key) - strlen(".pred")] = 0;
    if (!type || is_half(instruction))
        return false;
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        const ptx_formula *formula = &formulas[i];
        if (strcmp(key, formula->name) != 0 || instruction->operands != formula->operands + 1)
            continue;
        for (int o = 0; o < instruction->operands; o++)
            if (instruction->is_address[o] || instruction->is_vector[o])
                return false;
        // What counts, compares or widens has a type of its own; the rest has the instruction's.
        static const char *const free_type[] = {"popc", "clz", "bfind", "mul.wide", "mad.wide", NULL};
        bool own = strncmp(key, "setp", 4) == 0;
        for (int f = 0; free_type[f]; f++)
            own |= strcmp(key, free_type[f]) == 0;
        sim_text_print(out, "sim::ptx_set(%s, %s%s%s(", instruction->operand[0], own ? "" : "(", own ? "" : type,
                       own ? "" : ")");
        expand(instruction, formula, type, out);
        sim_text_add(out, "))");
        return true;
    }
    return false;
}

static bool convert(const sim_ptx_instruction *instruction, sim_text *out)
{
    static const char *const rounded[] = {"rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "sat", NULL};
    const char *from = type_from_end(instruction, 0), *to = type_from_end(instruction, 1);
    if (has(instruction, "rna") && has(instruction, "tf32") && instruction->operands == 2)
        return sim_text_print(out, "sim::ptx_set(%s, sim::ptx_to_tf32(sim::ptx_get<float>(%s)))",
                              instruction->operand[0], instruction->operand[1]),
               true;
    if (has(instruction, "rn") && has(instruction, "satfinite") && has(instruction, "f16x2") &&
        instruction->operands == 3)
        return sim_text_print(out,
                              "sim::ptx_set(%s, sim::ptx_to_halves(sim::ptx_get<float>(%s), sim::ptx_get<float>(%s)))",
                              instruction->operand[0], instruction->operand[1], instruction->operand[2]),
               true;
    if (!from || !to || instruction->operands != 2 || is_half(instruction))
        return false;
    const char *way = "";
    for (int i = 0; rounded[i]; i++)
        if (has(instruction, rounded[i]))
            way = rounded[i];
    bool from_real = strcmp(from, "float") == 0 || strcmp(from, "double") == 0;
    bool to_real = strcmp(to, "float") == 0 || strcmp(to, "double") == 0;
    const char *function = !strcmp(way, "rni")   ? "__builtin_rint"
                           : !strcmp(way, "rmi") ? "__builtin_floor"
                           : !strcmp(way, "rpi") ? "__builtin_ceil"
                           : !strcmp(way, "rzi") ? "__builtin_trunc"
                                                 : NULL;
    if ((*way && !function) || (function && !from_real))
        return false;
    if (from_real && !to_real)
        sim_text_print(out, "sim::ptx_set(%s, sim::ptx_saturate<%s>(%s(sim::ptx_get<%s>(%s))))",
                       instruction->operand[0], to, function ? function : "__builtin_trunc", from,
                       instruction->operand[1]);
    else
        sim_text_print(out, "sim::ptx_set(%s, (%s)%s(sim::ptx_get<%s>(%s)))", instruction->operand[0], to,
                       function ? function : "", from, instruction->operand[1]);
    return true;
}

// mov.b64 %0, {%1, %2} and mov.b64 {%0, %1}, %2
static bool move_parts(const sim_ptx_instruction *instruction, sim_text *out)
{
    const char *type = type_from_end(instruction, 0);
    if (!type || instruction->operands != 2 || instruction->is_vector[0] == instruction->is_vector[1])
        return false;
    if (instruction->is_vector[0])
        sim_text_print(out, "sim::ptx_split(sim::ptx_get<%s>(%s), %s)", type, instruction->operand[1],
                       instruction->operand[0]);
    else
        sim_text_print(out, "sim::ptx_set(%s, sim::ptx_join<%s>(%s))", instruction->operand[0], type,
                       instruction->operand[1]);
    return true;
}

// --- memory ----------------------------------------------------------------------------------------------------------

static bool load_or_store(const sim_ptx_instruction *instruction, sim_text *out)
{
    static const char *const unknown[] = {"param", "tex", "b128", "shared::cluster", "mmio", NULL};
    bool load = !is(instruction, "st");
    const char *type = type_from_end(instruction, 0);
    int at = load ? 1 : 0;
    if (!type || instruction->operands < 2 || !instruction->is_address[at] || has_any(instruction, unknown))
        return false;
    const char *address = instruction->operand[at], *value = instruction->operand[1 - at];
    bool ordered = has(instruction, "relaxed") || has(instruction, "acquire") || has(instruction, "release");
    const char *order = has(instruction, "acquire")   ? " | SIM_ATOMIC_ACQUIRE"
                        : has(instruction, "release") ? " | SIM_ATOMIC_RELEASE"
                                                      : "";
    if (instruction->is_vector[1 - at] && ordered) {
        sim_text_print(out, "sim::ptx_%s_vector_atomic<%s>(%s, %s, SIM_ATOMIC_%s%s, %s)", load ? "load" : "store", type,
                       address, scope_of(instruction), load ? "LOAD" : "STORE", order, value);
    } else if (instruction->is_vector[1 - at]) {
        sim_text_print(out, "sim::ptx_%s_vector%s<%s>(%s, %s)", load ? "load" : "store",
                       load && has(instruction, "cg")   ? "_past_cache"
                       : load && has(instruction, "nc") ? "_read_only"
                                                        : "",
                       type, address, value);
    } else if (ordered) {
        if (load)
            sim_text_print(out, "sim::ptx_set(%s, sim::ptx_load_atomic<%s>(%s, %s, SIM_ATOMIC_LOAD%s))", value, type,
                           address, scope_of(instruction), order);
        else
            sim_text_print(out, "sim::ptx_store_atomic<%s>(%s, %s, SIM_ATOMIC_STORE%s, sim::ptx_get<%s>(%s))", type,
                           address, scope_of(instruction), order, type, value);
    } else {
        const char *kind = has(instruction, "volatile") || has(instruction, "cv") ? "volatile " : "";
        if (load && (has(instruction, "cg") || has(instruction, "nc")))
            sim_text_print(out, "sim::ptx_set(%s, %s((const %s *)%s))", value,
                           has(instruction, "cg") ? "__ldcg" : "__ldg", type, address);
        else if (load && *kind) // what is read is a value, no longer volatile
            sim_text_print(out, "sim::ptx_set(%s, (%s)*(const volatile %s *)%s)", value, type, type, address);
        else if (load)
            sim_text_print(out, "sim::ptx_set(%s, *(const %s *)%s)", value, type, address);
        else
            sim_text_print(out, "*(%s%s *)%s = sim::ptx_get<%s>(%s)", kind, type, address, type, value);
    }
    return true;
}

static bool atomic(const sim_ptx_instruction *instruction, sim_text *out)
{
    static const char *const names[][2] = {{"add", "Add"}, {"exch", "Exch"}, {"min", "Min"}, {"max", "Max"},
                                           {"inc", "Inc"}, {"dec", "Dec"},   {"and", "And"}, {"or", "Or"},
                                           {"xor", "Xor"}, {"cas", "CAS"}};
    bool reduce = is(instruction, "red");
    const char *type = type_from_end(instruction, 0), *name = NULL;
    int first = reduce ? 0 : 1;
    for (size_t i = 0; i < sizeof names / sizeof *names && !name; i++)
        name = has(instruction, names[i][0]) ? names[i][1] : NULL;
    bool compare = name && strcmp(name, "CAS") == 0;
    if (!name || !type || is_half(instruction) || instruction->operands != first + 2 + compare ||
        !instruction->is_address[first] || instruction->is_vector[first + 1])
        return false;
    const char *scope = scope_of(instruction);
    const char *suffix = has(instruction, "cta") ? "_block" : has(instruction, "sys") ? "_system" : "";
    bool before = has(instruction, "release") || has(instruction, "acq_rel");
    bool after = has(instruction, "acquire") || has(instruction, "acq_rel");
    sim_text_add(out, "(");
    if (before)
        sim_text_print(out, "sim_fence(%s), ", scope);
    if (reduce)
        sim_text_add(out, "sim_discard(), ");
    else
        sim_text_print(out, "sim::ptx_set(%s, ", instruction->operand[0]);
    sim_text_print(out, "atomic%s%s((%s *)%s", name, suffix, type, instruction->operand[first]);
    for (int i = first + 1; i < instruction->operands; i++)
        sim_text_print(out, ", sim::ptx_get<%s>(%s)", type, instruction->operand[i]);
    sim_text_add(out, reduce ? ")" : "))");
    if (after)
        sim_text_print(out, ", sim_fence(%s)", scope);
    sim_text_add(out, ")");
    return true;
}

// cvta.to.shared.u64 %0, %1: all spaces are one.
static bool convert_address(const sim_ptx_instruction *instruction, sim_text *out)
{
    if (instruction->operands != 2)
        return false;
    if (has(instruction, "to"))
        sim_text_print(out, "sim::ptx_set(%s, sim::ptx_get<unsigned long long>(%s))", instruction->operand[0],
                       instruction->operand[1]);
    else
        sim_text_print(out, "sim::ptx_set(%s, (unsigned long long)sim::ptx_address(%s, 0))", instruction->operand[0],
                       instruction->operand[1]);
    return true;
}

static bool copy_async(const sim_ptx_instruction *instruction, sim_text *out)
{
    if (has(instruction, "bulk") || has(instruction, "mbarrier"))
        return false;
    if (has(instruction, "commit_group"))
        sim_text_add(out, "sim::ptx_copy_commit()");
    else if (has(instruction, "wait_all"))
        sim_text_add(out, "sim::ptx_copy_wait_all()");
    else if (has(instruction, "wait_group") && instruction->operands == 1)
        sim_text_print(out, "sim::ptx_copy_wait(%s)", instruction->operand[0]);
    else if (instruction->operands >= 3 && instruction->is_address[0] && instruction->is_address[1] &&
             !instruction->is_address[2])
        sim_text_print(out, "sim::ptx_copy(%s, %s, %s, %s)", instruction->operand[0], instruction->operand[1],
                       instruction->operand[2],
                       instruction->operands == 4 ? instruction->operand[3] : instruction->operand[2]);
    else
        return false;
    return true;
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {...}, [a]
static bool load_matrix(const sim_ptx_instruction *instruction, sim_text *out)
{
    const char *count = has(instruction, "x4")   ? "4"
                        : has(instruction, "x2") ? "2"
                        : has(instruction, "x1") ? "1"
                                                 : NULL;
    if (!count || !has(instruction, "m8n8") || !has(instruction, "b16") || instruction->operands != 2 ||
        !instruction->is_address[1])
        return false;
    sim_text_print(out, "sim::ptx_load_matrix<%s, %s>(%s, %s)", count, has(instruction, "trans") ? "true" : "false",
                   instruction->operand[1], instruction->operand[0]);
    return true;
}

// mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {d}, {a}, {b}, {c}
static bool multiply_matrices(const sim_ptx_instruction *instruction, sim_text *out)
{
    static const char *const known[][3] = {{"m16n8k16", "f32.f16.f16.f32", "half"},
                                           {"m16n8k16", "f32.bf16.bf16.f32", "bfloat16"},
                                           {"m16n8k8", "f32.tf32.tf32.f32", "tf32"},
                                           {"m16n8k32", "s32.s8.s8.s32", "int8"}};
    char types[SIM_PTX_NAME * 5] = "";
    size_t used = 0;
    int vectors = 0;
    for (int i = instruction->parts - 4; i > 0 && i < instruction->parts; i++)
        used += (size_t)snprintf(types + used, sizeof types - used, "%s%s", used ? "." : "", instruction->part[i]);
    for (int i = 0; i < instruction->operands; i++)
        vectors += instruction->is_vector[i];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!has(instruction, known[i][0]) || strcmp(types, known[i][1]) != 0 || !has(instruction, "row") ||
            vectors != 4)
            continue;
        sim_text_print(out,
                       "sim::ptx_store_parts(sim::ptx_multiply_%s(sim::ptx_parts(%s), sim::ptx_parts(%s), "
                       "sim::ptx_parts(%s)), %s)",
                       known[i][2], instruction->operand[1], instruction->operand[2], instruction->operand[3],
                       instruction->operand[0]);
        return true;
    }
    return false;
}

// --- the rest --------------------------------------------------------------------------------------------------------

static bool barrier(const sim_ptx_instruction *instruction, sim_text *out)
{
    if (has(instruction, "warp"))
        sim_text_print(out, "sim_warp_sync(%s)", instruction->operands == 1 ? instruction->operand[0] : "~0u");
    else if (has(instruction, "cluster") || instruction->operands < 1)
        return false;
    else if (has(instruction, "arrive") && instruction->operands == 2)
        sim_text_print(out, "sim_barrier_arrive(%s, %s)", instruction->operand[0], instruction->operand[1]);
    else if (!has(instruction, "sync"))
        return false;
    else
        sim_text_print(out, "sim_barrier_named(%s, %s)", instruction->operand[0],
                       instruction->operands == 2 ? instruction->operand[1] : "0");
    return true;
}

static bool fence(const sim_ptx_instruction *instruction, sim_text *out)
{
    if (has(instruction, "proxy") || has(instruction, "mbarrier_init"))
        return false;
    sim_text_print(out, "sim_fence(%s)", scope_of(instruction));
    return true;
}

static bool dependency(const sim_ptx_instruction *instruction, sim_text *out)
{
    sim_text_add(out, has(instruction, "wait") ? "sim_dependency_wait()" : "sim_dependency_trigger()");
    return has(instruction, "wait") || has(instruction, "launch_dependents");
}

bool sim_ptx_instruction_text(const sim_ptx_instruction *instruction, sim_text *out)
{
    static const char *const hints[] = {"prefetch",   "prefetchu", "discard", "applypriority",
                                        "setmaxnreg", "pmevent",   NULL};
    for (int i = 0; hints[i]; i++) {
        if (is(instruction, hints[i])) {
            sim_text_add(out, "(void)0");
            return true;
        }
    }
    if (is(instruction, "ld") || is(instruction, "ldu") || is(instruction, "st"))
        return load_or_store(instruction, out);
    if (is(instruction, "atom") || is(instruction, "red"))
        return atomic(instruction, out);
    if (is(instruction, "cp") && has(instruction, "async"))
        return copy_async(instruction, out);
    if (is(instruction, "ldmatrix"))
        return load_matrix(instruction, out);
    if (is(instruction, "mma") && has(instruction, "sync"))
        return multiply_matrices(instruction, out);
    if (is(instruction, "bar") || is(instruction, "barrier"))
        return barrier(instruction, out);
    if (is(instruction, "membar") || is(instruction, "fence"))
        return fence(instruction, out);
    if (is(instruction, "griddepcontrol"))
        return dependency(instruction, out);
    if (is(instruction, "cvta"))
        return convert_address(instruction, out);
    if (is(instruction, "cvt"))
        return convert(instruction, out);
    if (is(instruction, "nanosleep") && instruction->operands == 1)
        return sim_text_print(out, "__nanosleep(%s)", instruction->operand[0]), true;
    if (is(instruction, "activemask") && instruction->operands == 1)
        return sim_text_print(out, "sim::ptx_set(%s, sim_active_mask())", instruction->operand[0]), true;
    if (is(instruction, "trap") || is(instruction, "brkpt"))
        return sim_text_add(out, "sim_trap()"), true;
    if (is(instruction, "exit"))
        return sim_text_add(out, "sim_exit_thread()"), true;
    if (is(instruction, "mov") && (instruction->is_vector[0] || instruction->is_vector[1]))
        return move_parts(instruction, out);
    return arithmetic(instruction, out);
}
