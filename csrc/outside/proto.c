/* proto.c - see proto.h. */
#include "outside/proto.h"

#include "outside/dialect.h"

#define CODE_MOST (1u << 24)    /* instructions, and other parts of one */
#define ABSOLUTE_LINE (-0x80)   /* of a step: the line is given outright */

bool tg_proto_read (tg_Sight *s, uint64_t at, tg_SeenProto *p) {
  *p = (tg_SeenProto){.at = at};
  if (s->dialect != NULL)
    return s->dialect->proto(s, at, p);
  if (at == 0 || (tg_sight_byte(s, at, AT_OBJECT_TAG) & 0x3f)
                 != tg_sight_row(s, TAG_PROTO))
    return false;
  uint8_t extra = tg_sight_byte(s, at, AT_PROTO_EXTRA);
  p->code = tg_sight_word(s, at, AT_PROTO_CODE);
  p->ncode = tg_sight_half(s, at, AT_PROTO_NCODE);
  p->line = tg_sight_half(s, at, AT_PROTO_LINE);
  p->last_line = tg_sight_half(s, at, AT_PROTO_LAST);
  p->nlocals = tg_sight_half(s, at, AT_PROTO_NLOCALS);
  p->nupvalues = tg_sight_half(s, at, AT_PROTO_NUPVALUES);
  p->nconstants = tg_sight_half(s, at, AT_PROTO_NCONSTANTS);
  p->params = tg_sight_byte(s, at, AT_PROTO_PARAMS);
  p->source = tg_sight_word(s, at, AT_PROTO_SOURCE);
  p->hidden = p->vararg = extra != 0;
  if (tg_sight_has(s, PROTO_HIDDEN)) {
    p->hidden = (extra & tg_sight_row(s, PROTO_HIDDEN)) != 0;
    p->vararg = p->hidden || (extra & tg_sight_row(s, PROTO_TABLE)) != 0;
  }
  return p->ncode > 0 && p->ncode <= CODE_MOST && p->nlocals <= CODE_MOST
         && p->code != 0;
}

bool tg_proto_owns (const tg_SeenProto *p, uint64_t next, int32_t *pc) {
  uint64_t distance = next - p->code;
  if (next < p->code || distance % 4 != 0 || distance / 4 > p->ncode)
    return false;
  *pc = (distance == 0) ? 0 : (int32_t)(distance / 4 - 1);
  return true;
}

/*
** {==================================================================
** Lines
** ===================================================================
*/

/* The last of the lines that are given outright up to an instruction; pairs of
   int (AbsLineInfo). False: there is none. */
static bool find_absolute (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                           int32_t *from, uint32_t *line) {
  uint32_t low = 0, high = tg_sight_half(s, p->at, AT_PROTO_ABSOLUTES);
  uint64_t list = tg_sight_word(s, p->at, AT_PROTO_ABSOLUTE);
  if (high > CODE_MOST)
    return false;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((int32_t)tg_memory_half(s->memory, list + 8u * (uint64_t)middle) <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0)
    return false;
  uint64_t at = list + 8u * (uint64_t)(low - 1);
  int32_t found = (int32_t)tg_memory_half(s->memory, at);
  if (found < 0)                /* it is none, and far from 'pc' */
    return false;
  *from = found;
  *line = tg_memory_half(s->memory, at + 4);
  return true;
}

/* From 5.4 on a step an instruction (luaG_getfuncline). */
static uint32_t line_by_steps (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                               uint64_t steps) {
  int32_t from = -1;
  uint32_t line = p->line;
  find_absolute(s, p, pc, &from, &line);
  for (int32_t i = from + 1; i <= pc; i++) {
    int8_t step = (int8_t)tg_memory_byte(s->memory, steps + (uint32_t)i);
    if (step != ABSOLUTE_LINE)
      line = (uint32_t)((int32_t)line + step);
  }
  return line;
}

uint32_t tg_proto_line (tg_Sight *s, const tg_SeenProto *p, int32_t pc) {
  if (s->dialect != NULL)
    return s->dialect->line(s, p, pc);
  uint64_t lines = tg_sight_word(s, p->at, AT_PROTO_LINES);
  uint32_t n = tg_sight_half(s, p->at, AT_PROTO_NLINES);
  if (pc < 0 || (uint32_t)pc >= n || (uint32_t)pc >= p->ncode)
    return 0;
  uint32_t line = tg_sight_has(s, AT_PROTO_ABSOLUTE)
                  ? line_by_steps(s, p, pc, lines)
                  : tg_memory_half(s->memory, lines + 4u * (uint64_t)pc);
  return (line <= INT32_MAX) ? line : 0;
}

/* }================================================================== */

/*
** {==================================================================
** Names
** ===================================================================
*/

/* As luaF_getlocalname: those that begin later come later. */
bool tg_proto_next_local (tg_Sight *s, const tg_SeenProto *p, int32_t pc,
                          tg_SeenNames *names, char *name, size_t room) {
  if (s->dialect != NULL)
    return s->dialect->next_local(s, p, pc, names, name, room);
  uint64_t list = tg_sight_word(s, p->at, AT_PROTO_LOCALS);
  while (names->i < p->nlocals) {
    uint64_t local = list + names->i * (uint64_t)tg_sight_row(s, SIZE_LOCAL);
    int32_t begin = (int32_t)tg_memory_half(s->memory, local + 8);
    int32_t end = (int32_t)tg_memory_half(s->memory, local + 12);
    if (begin > pc)
      return false;
    names->i++;
    if (pc < end) {
      tg_seen_name(s, tg_memory_word(s->memory, local), name, room);
      return true;
    }
  }
  return false;
}

bool tg_proto_local (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                     int32_t pc, char *name, size_t room) {
  tg_SeenNames names = {0};
  while (tg_proto_next_local(s, p, pc, &names, name, room)) {
    if (n-- == 0)
      return name[0] != '\0';
  }
  return false;
}

bool tg_proto_upvalue (tg_Sight *s, const tg_SeenProto *p, uint32_t n,
                       char *name, size_t room) {
  if (s->dialect != NULL)
    return s->dialect->upvalue_name(s, p, n, name, room);
  uint64_t list = tg_sight_word(s, p->at, AT_PROTO_UPVALUES);
  if (n >= p->nupvalues || list == 0)
    return false;
  uint64_t at = tg_memory_word(s->memory,
                               list + n * (uint64_t)tg_sight_row(s,
                                                                 SIZE_UPVALUE));
  return at != 0 && tg_seen_name(s, at, name, room);
}

tg_SeenValue tg_proto_constant (tg_Sight *s, const tg_SeenProto *p,
                                uint32_t n) {
  uint64_t list = tg_sight_word(s, p->at, AT_PROTO_CONSTANTS);
  if (n >= p->nconstants)
    return (tg_SeenValue){0};
  return tg_seen_slot(s, list + n * (uint64_t)tg_sight_row(s, SIZE_SLOT));
}

/* }================================================================== */
