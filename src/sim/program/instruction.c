// Reads x86-64 instructions, for reaches.c, which has to know where each begins: bytes in the middle of one may look
// like anything. Only lengths, branches and addresses relative to the instruction are told.
//
// An instruction is prefixes, an opcode from one of four maps (one byte; behind 0f; behind 0f 38; behind 0f 3a; VEX and
// EVEX name the map), for most opcodes a byte "modrm" that says where an operand is, which may be followed by an index
// byte and a displacement, and an immediate number. The tables below say of each opcode what follows it.

#include "program/instruction.h"

#include <stddef.h>
#include <string.h>

// What follows an opcode.
enum {
    NONE = 0,
    MODRM = 1,
    IMM8 = 2,
    IMM16 = 4,
    IMM32 = 8,      // 16 bits behind the prefix 66
    IMM_WHOLE = 16, // 64 bits with REX.W, else as IMM32
    ADDRESS = 32,   // of 64 bits, or of 32 behind the prefix 67
    NEAR = 64,      // a distance of 32 bits, whatever the prefixes: call, jmp, jcc
    TEST = 128,     // with an immediate number only for two of the eight operations in modrm
    UNKNOWN = 256,
};

enum { MAP_BYTE, MAP_0F, MAP_0F38, MAP_0F3A };

typedef struct reader {
    const uint8_t *at, *end;
    bool word, wide, short_address; // prefix 66; REX.W; prefix 67
} reader;

static unsigned follows_alu(unsigned low)
{
    return low < 4 ? MODRM : low == 4 ? IMM8 : low == 5 ? IMM32 : UNKNOWN;
}

static unsigned follows_80(unsigned opcode)
{
    switch (opcode) {
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return MODRM | IMM8;
    case 0x81:
    case 0xc7: return MODRM | IMM32;
    case 0x82:
    case 0x9a:
    case 0xce:
    case 0xd4:
    case 0xd5:
    case 0xd6:
    case 0xea: return UNKNOWN;
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa3: return ADDRESS;
    case 0xa8:
    case 0xcd:
    case 0xeb: return IMM8;
    case 0xa9: return IMM32;
    case 0xc2:
    case 0xca: return IMM16;
    case 0xc8: return IMM16 | IMM8;
    case 0xe8:
    case 0xe9: return NEAR;
    case 0xf6: return MODRM | TEST | IMM8;
    case 0xf7: return MODRM | TEST | IMM32;
    default: break;
    }
    const unsigned row = opcode >> 3;
    if (row == 0x80 >> 3 || row == 0x88 >> 3 || row == 0xd0 >> 3 || row == 0xd8 >> 3 || opcode >= 0xfe)
        return MODRM;
    if (row == 0xb0 >> 3 || row == 0xe0 >> 3) // mov of a byte; loop, in and out
        return IMM8;
    return row == 0xb8 >> 3 ? IMM_WHOLE : NONE;
}

static unsigned follows_byte(unsigned opcode)
{
    if (opcode < 0x40)
        return follows_alu(opcode % 8);
    if (opcode >= 0x80)
        return follows_80(opcode);
    if (opcode >= 0x70) // short jumps, which stay in the function
        return IMM8;
    switch (opcode) {
    case 0x63: return MODRM;
    case 0x68: return IMM32;
    case 0x69: return MODRM | IMM32;
    case 0x6a: return IMM8;
    case 0x6b: return MODRM | IMM8;
    default: return opcode >= 0x60 && opcode < 0x68 ? UNKNOWN : NONE;
    }
}

static unsigned follows_0f(unsigned opcode)
{
    switch (opcode) {
    case 0x70:
    case 0x71:
    case 0x72:
    case 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4:
    case 0xc5:
    case 0xc6: return MODRM | IMM8;
    case 0x0e:
    case 0x77:
    case 0xa0:
    case 0xa1:
    case 0xa2:
    case 0xa8:
    case 0xa9:
    case 0xaa: return NONE;
    case 0x04:
    case 0x0a:
    case 0x0c:
    case 0x0f:
    case 0x36:
    case 0xa6:
    case 0xa7: return UNKNOWN;
    default: break;
    }
    if (opcode >> 4 == 0x8)
        return NEAR;
    if ((opcode >= 0x05 && opcode <= 0x0b) || opcode >> 3 == 0x30 >> 3 || opcode >> 3 == 0xc8 >> 3)
        return NONE;
    return MODRM;
}

static unsigned follows(unsigned map, unsigned opcode)
{
    return map == MAP_BYTE   ? follows_byte(opcode)
           : map == MAP_0F   ? follows_0f(opcode)
           : map == MAP_0F38 ? MODRM
                             : MODRM | IMM8;
}

// A byte; beyond the end 0, and the reader is past it.
static unsigned take(reader *from)
{
    const unsigned byte = from->at < from->end ? *from->at : 0;
    from->at++;
    return byte;
}

static bool is_prefix(unsigned byte)
{
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || byte == 0x64 ||
           byte == 0x65 || (byte & 0xe7) == 0x26;
}

// Prefixes and the opcode. Returns the map that it is from.
static unsigned read_opcode(reader *from, unsigned *opcode)
{
    enum { VEX_TWO = 0xc5, VEX_THREE = 0xc4, EVEX = 0x62, REX = 0x40, ESCAPE = 0x0f, MAPS = 7 };
    unsigned byte = take(from);
    for (; is_prefix(byte); byte = take(from)) {
        from->word |= byte == 0x66;
        from->short_address |= byte == 0x67;
    }
    if (byte == VEX_TWO || byte == VEX_THREE || byte == EVEX) {
        const unsigned first = take(from), map = byte == VEX_TWO ? MAP_0F : first & MAPS;
        for (unsigned i = byte == VEX_TWO ? 2 : byte == VEX_THREE ? 1 : 0; i < 2; i++)
            (void)take(from);
        *opcode = take(from);
        return map > MAP_0F3A ? MAP_0F38 : map == MAP_BYTE ? MAP_0F : map; // above: halves, which have no numbers
    }
    if (byte >> 4 == REX >> 4) {
        from->wide = byte >> 3 & 1;
        byte = take(from);
    }
    *opcode = byte;
    if (byte != ESCAPE)
        return MAP_BYTE;
    *opcode = byte = take(from);
    if (byte != 0x38 && byte != 0x3a)
        return MAP_0F;
    *opcode = take(from);
    return byte == 0x38 ? MAP_0F38 : MAP_0F3A;
}

// The byte modrm with all that belongs to it. Returns where its displacement is, if that is a distance from here.
static const uint8_t *read_operand(reader *from, unsigned *modrm)
{
    enum { NO_BASE = 5, INDEXED = 4, REGISTER = 3 };
    *modrm = take(from);
    const unsigned mode = *modrm >> 6, operand = *modrm & 7;
    if (mode == REGISTER)
        return NULL;
    unsigned base = operand;
    if (operand == INDEXED)
        base = take(from) & 7;
    const uint8_t *displacement = from->at;
    from->at += mode == 1 ? 1 : mode == 2 || base == NO_BASE ? sizeof(int32_t) : 0;
    return mode == 0 && operand == NO_BASE ? displacement : NULL;
}

static size_t immediate_bytes(const reader *from, unsigned what, unsigned modrm)
{
    if ((what & TEST) && (modrm >> 3 & 7) > 1)
        return 0;
    const size_t number = from->word ? 2 : 4;
    return (what & IMM8 ? 1 : 0) + (what & IMM16 ? 2 : 0) + (what & IMM32 ? number : 0) + (what & NEAR ? 4 : 0) +
           (what & IMM_WHOLE ? from->wide ? 8 : number : 0) + (what & ADDRESS ? from->short_address ? 4 : 8 : 0);
}

// Where a distance of 32 bits from the instruction's end leads.
static uintptr_t led_to(const uint8_t *distance, const uint8_t *end)
{
    int32_t by;
    memcpy(&by, distance, sizeof by);
    return (uintptr_t)end + (uintptr_t)(intptr_t)by;
}

bool sim_instruction_read(uintptr_t at, uintptr_t end, sim_instruction *instruction)
{
    enum { GROUP_5 = 0xff, CALL = 2, FAR_CALL = 3 };
    const uint8_t *begin = (const uint8_t *)at; // NOLINT(performance-no-int-to-ptr)
    reader from = {.at = begin, .end = begin + (end - at)};
    unsigned opcode, modrm = 0;
    const unsigned map = read_opcode(&from, &opcode), what = follows(map, opcode);
    if (what & UNKNOWN)
        return false;
    const uint8_t *distance = what & MODRM ? read_operand(&from, &modrm) : NULL;
    const uint8_t *leads = what & NEAR ? from.at : distance;
    from.at += immediate_bytes(&from, what, modrm);
    if (from.at > from.end)
        return false;
    const unsigned operation = modrm >> 3 & 7;
    *instruction = (sim_instruction){.bytes = (unsigned)(from.at - begin),
                                     .branches = what & NEAR,
                                     .refers = distance,
                                     .indirect = map == MAP_BYTE && opcode == GROUP_5 &&
                                                 (operation == CALL || operation == FAR_CALL) && !distance};
    if (leads)
        instruction->target = led_to(leads, from.at);
    return true;
}
