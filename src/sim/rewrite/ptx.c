// Reads a PTX template: declarations, predicates, instructions and their operands.

#include "rewrite/ptx.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ptx_translator {
    const sim_ptx_statement *statement;
    char registers[SIM_PTX_REGISTERS][SIM_PTX_NAME];
    int register_count;
    sim_text declarations, body;
    bool branches; // has predicated instructions
    bool carries;  // an instruction has set the carry
    int instructions;
} ptx_translator;

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

// Copies a name; its length in the text, 0: none or too long. PTX names may start with % and have parts: %tid.x.
static size_t read_name(const char *at, char *name)
{
    size_t length = 0;
    while (is_name(at[length]) || (length == 0 && at[0] == '%') || (length > 0 && at[length] == '.'))
        length++;
    if (length == 0 || length >= SIM_PTX_NAME)
        return 0;
    memcpy(name, at, length);
    name[length] = 0;
    return length;
}

static bool is_declared(const ptx_translator *translator, const char *name)
{
    for (int i = 0; i < translator->register_count; i++)
        if (strcmp(translator->registers[i], name) == 0)
            return true;
    return false;
}

static void add_register(sim_text *out, const char *name)
{
    sim_text_add(out, "sim_ptx_");
    for (; *name; name++)
        sim_text_add_bytes(out, is_name(*name) && *name != '$' ? name : "_", 1);
}

static bool declare(ptx_translator *translator, const char *type, const char *name)
{
    if (translator->register_count >= SIM_PTX_REGISTERS)
        return false;
    snprintf(translator->registers[translator->register_count++], SIM_PTX_NAME, "%s", name);
    sim_text_print(&translator->declarations, "%s ", type);
    add_register(&translator->declarations, name);
    sim_text_add(&translator->declarations, "{}; ");
    return true;
}

// .reg .u32 a, b, r<4>
static bool read_declaration(ptx_translator *translator, const char *at)
{
    char type_name[SIM_PTX_NAME], name[SIM_PTX_NAME];
    at = skip_space(at + strlen(".reg"));
    if (*at++ != '.')
        return false;
    at += read_name(at, type_name);
    const char *type = strcmp(type_name, "pred") == 0 ? "bool" : sim_ptx_type(type_name);
    if (!type)
        return false;
    for (at = skip_space(at); *at; at = skip_space(at + (*at == ','))) {
        size_t length = read_name(at, name);
        if (!length)
            return false;
        at = skip_space(at + length);
        if (*at == '<') {
            char *end;
            long count = strtol(at + 1, &end, 10);
            for (long i = 0; i < count; i++) {
                char numbered[SIM_PTX_NAME + 24];
                int bytes = snprintf(numbered, sizeof numbered, "%s%ld", name, i);
                if (bytes >= SIM_PTX_NAME || !declare(translator, type, numbered))
                    return false;
            }
            at = skip_space(end);
            if (*at != '>')
                return false;
            at = skip_space(at + 1);
        } else if (!declare(translator, type, name)) {
            return false;
        }
        if (*at && *at != ',')
            return false;
    }
    return true;
}

// %0 or %[name] of the asm statement. The length in the text, 0: not one.
static size_t read_asm_operand(const ptx_translator *translator, const char *at, sim_text *out)
{
    const sim_ptx_statement *statement = translator->statement;
    if (at[0] != '%')
        return 0;
    if (isdigit((unsigned char)at[1])) {
        char *end;
        long number = strtol(at + 1, &end, 10);
        if (number >= statement->count)
            return 0;
        sim_text_add(out, statement->operand[number].expression);
        return (size_t)(end - at);
    }
    const char *close = at[1] == '[' ? strchr(at, ']') : NULL;
    for (int i = 0; close && i < statement->count; i++) {
        size_t length = strlen(statement->operand[i].name);
        if (length && length == (size_t)(close - at - 2) && memcmp(at + 2, statement->operand[i].name, length) == 0) {
            sim_text_add(out, statement->operand[i].expression);
            return (size_t)(close - at) + 1;
        }
    }
    return 0;
}

// A number: 12, -3, 0xff, 1.5, 0f3F800000 (the bits of a float), 0d... (of a double).
static size_t read_number(const char *at, sim_text *out)
{
    size_t sign = at[0] == '-' || at[0] == '+', length = sign;
    if (!isdigit((unsigned char)at[length]))
        return 0;
    bool bits = at[length] == '0' && strchr("fFdD", at[length + 1]) && at[length + 1];
    while (isalnum((unsigned char)at[length]) || at[length] == '.')
        length++;
    if (bits && sign)
        return 0;
    if (bits)
        sim_text_print(out, "0x%.*s%s", (int)length - 2, at + 2, tolower((unsigned char)at[1]) == 'd' ? "ull" : "u");
    else
        sim_text_add_bytes(out, at, length);
    return length;
}

static size_t read_scalar(const ptx_translator *translator, const char *at, sim_text *out)
{
    char name[SIM_PTX_NAME];
    size_t length = read_asm_operand(translator, at, out);
    if (!length)
        length = read_number(at, out);
    if (length)
        return length;
    // %% stood for one % in the template.
    const char *start = at[0] == '%' && at[1] == '%' ? at + 1 : at;
    length = read_name(start, name);
    if (!length)
        return 0;
    const char *special = name[0] == '%' ? sim_ptx_special(name + 1) : sim_ptx_special(name);
    if (is_declared(translator, name))
        add_register(out, name);
    else if (special)
        sim_text_add(out, special);
    else if (strcmp(name, "_") == 0)
        sim_text_add(out, "sim::ptx_sink()");
    else
        return 0;
    return (size_t)(start - at) + length;
}

// [a], [a + 16]
static size_t read_address(const ptx_translator *translator, const char *at, sim_text *out)
{
    const char *start = at;
    at = skip_space(at + 1);
    sim_text base = {0};
    size_t length = read_scalar(translator, at, &base);
    long offset = 0;
    if (length) {
        at = skip_space(at + length);
        if (*at == '+' || *at == '-') {
            bool minus = *at == '-';
            at = skip_space(at + 1);
            char *end;
            sim_text constant = {0};
            size_t bytes = read_asm_operand(translator, at, &constant);
            if (bytes) // a constant of the compiler's: "n"(4)
                sim_text_print(out, "sim::ptx_address(%s, %s(%s))", base.at, minus ? "-" : "", constant.at);
            offset = bytes ? 0 : strtol(at, &end, 0) * (minus ? -1 : 1);
            at = skip_space(bytes ? at + bytes : end);
            sim_text_free(&constant);
            if (bytes) {
                sim_text_free(&base);
                return *at == ']' ? (size_t)(at - start) + 1 : 0;
            }
        }
        sim_text_print(out, "sim::ptx_address(%s, %ld)", base.at ? base.at : "", offset);
    }
    sim_text_free(&base);
    return length && *at == ']' ? (size_t)(at - start) + 1 : 0;
}

static size_t read_vector(const ptx_translator *translator, const char *at, sim_text *out)
{
    const char *start = at;
    for (at = skip_space(at + 1);; at = skip_space(at + 1)) {
        size_t length = read_scalar(translator, at, out);
        if (!length)
            return 0;
        at = skip_space(at + length);
        if (*at == '}')
            return (size_t)(at - start) + 1;
        if (*at != ',')
            return 0;
        sim_text_add(out, ", ");
    }
}

static bool read_operands(const ptx_translator *translator, const char *at, sim_ptx_instruction *instruction)
{
    for (at = skip_space(at); *at; at = skip_space(at + 1)) {
        int i = instruction->operands;
        if (i >= SIM_PTX_PARTS)
            return false;
        sim_text out = {0};
        instruction->is_address[i] = *at == '[';
        instruction->is_vector[i] = *at == '{';
        size_t length = *at == '['   ? read_address(translator, at, &out)
                        : *at == '{' ? read_vector(translator, at, &out)
                                     : read_scalar(translator, at, &out);
        instruction->operand[instruction->operands++] = sim_text_take(&out);
        if (!length)
            return false;
        at = skip_space(at + length);
        if (*at == '|' && i == 0) // two destinations of setp: not known
            return false;
        if (*at && *at != ',')
            return false;
        if (!*at)
            break;
    }
    return true;
}

static const char *read_mnemonic(const char *at, sim_ptx_instruction *instruction)
{
    while (instruction->parts < SIM_PTX_PARTS) {
        size_t length = 0;
        while (is_name(at[length]) || (at[length] == ':' && at[length + 1] == ':') ||
               (at[length] == ':' && length && at[length - 1] == ':'))
            length++;
        if (length == 0 || length >= SIM_PTX_NAME)
            return NULL;
        memcpy(instruction->part[instruction->parts], at, length);
        instruction->part[instruction->parts++][length] = 0;
        at += length;
        if (*at != '.')
            return at;
        at++;
    }
    return NULL;
}

static bool read_predicate(ptx_translator *translator, const char **at)
{
    if (**at != '@')
        return true;
    bool negated = (*at)[1] == '!';
    const char *name = skip_space(*at + 1 + negated);
    sim_text condition = {0};
    size_t length = read_scalar(translator, name, &condition);
    if (length)
        sim_text_print(&translator->body, "if (%s(%s)) ", negated ? "!" : "", condition.at);
    sim_text_free(&condition);
    translator->branches = true;
    *at = skip_space(name + length);
    return length > 0;
}

// The carry is a variable of the statement: one that an earlier statement, or perhaps no instruction, has set is not
// known.
static bool follow_carry(ptx_translator *translator, const sim_ptx_instruction *instruction, bool predicated)
{
    static const char *const users[] = {"addc", "subc", "madc", NULL};
    bool sets = false, uses = false;
    for (int i = 1; i < instruction->parts; i++)
        sets |= strcmp(instruction->part[i], "cc") == 0;
    for (int i = 0; users[i]; i++)
        uses |= strcmp(instruction->part[0], users[i]) == 0;
    if ((uses && !translator->carries) || (sets && predicated))
        return false;
    if (sets && !translator->carries)
        sim_text_add(&translator->declarations, "unsigned int sim_ptx_carry = 0; ");
    translator->carries |= sets;
    return true;
}

static bool read_instruction(ptx_translator *translator, const char *at)
{
    at = skip_space(at);
    if (!*at)
        return true;
    if (strncmp(at, ".reg", 4) == 0)
        return read_declaration(translator, at);
    bool predicated = *at == '@';
    if (!read_predicate(translator, &at))
        return false;
    sim_ptx_instruction instruction = {0};
    const char *operands = read_mnemonic(at, &instruction);
    bool fine = operands && (*operands == 0 || isspace((unsigned char)*operands)) &&
                read_operands(translator, operands, &instruction) && follow_carry(translator, &instruction, predicated);
    size_t before = translator->body.bytes;
    fine = fine && sim_ptx_instruction_text(&instruction, &translator->body) && translator->body.bytes > before;
    if (fine)
        sim_text_add(&translator->body, "; ");
    translator->instructions++;
    for (int i = 0; i < instruction.operands; i++)
        free(instruction.operand[i]);
    return fine;
}

// The template without comments, its instructions ended with 0 instead of ;. Braces around several instructions only
// limit the names declared in them.
static char *plain_template(const char *text, size_t *bytes)
{
    sim_text plain = {0};
    int vector = 0;
    for (const char *at = text; *at; at++) {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
            if (!*at)
                break;
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            if (!end)
                break;
            at = end + 1;
            continue;
        }
        // A brace that starts an instruction is a block; elsewhere it is a vector.
        const char *last = plain.at ? plain.at + plain.bytes : NULL;
        while (last && last > plain.at && isspace((unsigned char)last[-1]))
            last--;
        bool at_start = !last || last == plain.at || last[-1] == 0;
        if (*at == '{' && !at_start)
            vector++;
        bool block = (*at == '{' && at_start) || (*at == '}' && vector == 0);
        if (*at == '}' && vector > 0)
            vector--;
        sim_text_add_bytes(&plain, *at == ';' || block ? "" : at, 1);
    }
    sim_text_add_bytes(&plain, "", 1);
    *bytes = plain.bytes;
    return sim_text_take(&plain);
}

bool sim_ptx_translate(const sim_ptx_statement *statement, sim_text *expression)
{
    ptx_translator *translator = calloc(1, sizeof *translator);
    size_t bytes = 0;
    char *text = plain_template(statement->text, &bytes);
    bool fine = translator && text;
    if (fine)
        translator->statement = statement;
    for (size_t at = 0; fine && at < bytes; at += strlen(text + at) + 1)
        fine = read_instruction(translator, text + at);
    if (fine && translator->body.bytes) {
        bool several = translator->instructions > 1 || translator->declarations.bytes || translator->branches;
        sim_text_print(expression, several ? "[&]() __attribute__((always_inline)) { %s%s}()" : "%s%s",
                       translator->declarations.at ? translator->declarations.at : "", translator->body.at);
        // A single instruction is an expression by itself, without its semicolon.
        char *end = expression->at + expression->bytes;
        if (!several && expression->bytes >= 2) {
            expression->bytes -= 2;
            end[-2] = 0;
        }
    } else if (fine) {
        sim_text_add(expression, "(void)0");
    }
    if (translator) {
        sim_text_free(&translator->declarations);
        sim_text_free(&translator->body);
    }
    free(translator);
    free(text);
    return fine && !expression->failed;
}
