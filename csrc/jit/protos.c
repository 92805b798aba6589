/* protos.c - see protos.h. */
#include "jit/protos.h"

#include <stdio.h>
#include <string.h>

#define CODE_MOST (1u << 24)    /* instructions */
#define NAMES_MOST (1u << 16)   /* bytes of a list of names */

bool tg_jitprotos_read (tg_Sight *s, uint64_t at, tg_SeenProto *p) {
  if (!tg_jit_is(s, at, TG_JIT_PROTO))
    return false;
  uint8_t flags = tg_jit_byte(s, at, AT_PROTO_FLAGS);
  p->code = at + (uint64_t)tg_jit_row(s, SIZE_PROTO);
  p->ncode = tg_jit_half(s, at, AT_PROTO_NCODE);
  p->line = tg_jit_half(s, at, AT_PROTO_LINE);
  p->last_line = p->line + tg_jit_half(s, at, AT_PROTO_NLINES);
  p->nupvalues = tg_jit_byte(s, at, AT_PROTO_NUPVALUES);
  p->nconstants = tg_jit_half(s, at, AT_PROTO_NCONSTANTS);
  p->params = tg_jit_byte(s, at, AT_PROTO_PARAMS);
  p->source = tg_jit_word(s, at, AT_PROTO_SOURCE);
  p->hidden = p->vararg = (flags & tg_jit_row(s, PROTO_VARARG)) != 0;
  return p->ncode > 0 && p->ncode <= CODE_MOST;
}

/* Constants that are objects are right behind the instructions, and their end
   is what a prototype names (lj_parse.c, fs_finish). */
static bool is_whole (tg_Sight *s, const tg_SeenProto *p) {
  uint64_t end = p->code + 4 * (uint64_t)p->ncode;
  uint64_t constants = ((end + 7) & ~UINT64_C(7))
                       + 8 * (uint64_t)p->nconstants;
  return tg_jit_word(s, p->at, AT_PROTO_CONSTANTS) == constants
         && tg_jit_is(s, p->source, TG_JIT_STRING);
}

#define LOOKED_BACK 0x8000u     /* bytes */

bool tg_jitprotos_around (tg_Sight *s, uint64_t instruction, tg_SeenProto *p) {
  uint64_t at = (instruction & ~UINT64_C(7)) - (uint64_t)tg_jit_row(s,
                                                                    SIZE_PROTO);
  for (uint32_t i = 0; i < LOOKED_BACK; i += 8, at -= 8) {
    *p = (tg_SeenProto){.at = at};
    if (tg_jitprotos_read(s, at, p) && is_whole(s, p)
        && instruction < p->code + 4 * (uint64_t)p->ncode)
      return true;
  }
  return false;
}

/* A line each, from the second instruction on, less the first line, in as many
   bytes as the function has lines for (lj_debug_line). */
uint32_t tg_jitprotos_line (tg_Sight *s, const tg_SeenProto *p, int32_t pc) {
  uint64_t lines = tg_jit_word(s, p->at, AT_PROTO_LINES);
  uint32_t n = p->last_line - p->line;
  if (lines == 0 || pc < 0 || (uint32_t)pc >= p->ncode)
    return 0;
  if (pc == 0)
    return p->line;
  uint64_t i = (uint32_t)pc - 1u;
  uint32_t step;
  if (n < 256)
    step = tg_memory_byte(s->memory, lines + i);
  else if (n < 65536)
    step = tg_memory_half(s->memory, lines + 2 * i) & 0xffff;
  else
    step = tg_memory_half(s->memory, lines + 4 * i);
  return (step <= n) ? p->line + step : 0;
}

/*
** {==================================================================
** Names
** ===================================================================
*/

/* A list of names and numbers, read in order. */
typedef struct Names {
  tg_Sight *s;
  uint64_t list;
  uint32_t i;           /* the next byte */
} Names;

static uint8_t next_byte (Names *n) {
  if (n->i >= NAMES_MOST)
    return 0;
  return tg_memory_byte(n->s->memory, n->list + n->i++);
}

/* Seven bits a byte, the lowest first. */
static uint32_t next_number (Names *n) {
  uint32_t v = 0;
  for (int shift = 0; shift < 32; shift += 7) {
    uint8_t byte = next_byte(n);
    v |= (uint32_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      break;
  }
  return v;
}

/* Up to its zero; 'first' is its first byte. */
static void next_text (Names *n, uint8_t first, char *name, size_t room) {
  size_t size = 0;
  for (uint8_t byte = first; byte != 0; byte = next_byte(n)) {
    if (size + 1 < room)
      name[size++] = (char)byte;
  }
  name[size] = '\0';
}

/* Variables of the interpreter's own have a number for a name. */
static void next_name (Names *n, uint8_t first, char *name, size_t room) {
  static const char *const own[] = {
    "(for index)", "(for limit)", "(for step)", "(for generator)",
    "(for state)", "(for control)"
  };
  if (first <= sizeof own / sizeof *own)
    snprintf(name, room, "%s", own[first - 1]);
  else
    next_text(n, first, name, room);
}

/* Each has its name, where it begins, as a distance from the one before, and
   how long it is there. Those that begin later come later (debug_varname). */
bool tg_jitprotos_next_local (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                              tg_SeenNames *names, char *name, size_t room) {
  Names n = {s, tg_jit_word(s, p->at, AT_PROTO_LOCALS), names->i};
  if (n.list == 0 || pc < 0)
    return false;
  for (;;) {
    uint8_t first = next_byte(&n);
    if (first == 0)
      return false;
    next_name(&n, first, name, room);
    uint32_t begin = names->pc + next_number(&n);
    if (begin > (uint32_t)pc)
      return false;
    uint32_t size = next_number(&n);
    names->i = n.i;
    names->pc = begin;
    if ((uint32_t)pc - begin < size)
      return true;
  }
}

bool tg_jitprotos_upvalue (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                           char *name, size_t room) {
  Names names = {s, tg_jit_word(s, p->at, AT_PROTO_UPVALUES), 0};
  if (n >= p->nupvalues || names.list == 0)
    return false;
  for (uint32_t i = 0; i <= n; i++)
    next_text(&names, next_byte(&names), name, room);
  return name[0] != '\0';
}

/* }================================================================== */
