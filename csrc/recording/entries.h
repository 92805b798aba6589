/*
** entries.h - what a recording says beside its events: which program it is of,
** the functions, the traces, sources.
**
** An entry is a kind and a size, both u32, and so many bytes. A reader passes
** over unknown kinds, and over unknown bytes at the end of an entry. Strings
** are a u32 length and the bytes; length TG_ENTRY_ABSENT: none.
** docs/recording.md has every entry byte by byte.
*/
#ifndef TG_ENTRIES_H
#define TG_ENTRIES_H

#include "base/base.h"
#include "base/buf.h"
#include "options/endreason.h"
#include "options/options.h"
#include "stream/costs.h"
#include "stream/functions.h"
#include "stream/misses.h"

/* Whether the text of a file is what Lua loads: who records knows, and a file's
   name is the word of the chunk that has it. */
typedef bool tg_SourceTest (const char *text, size_t size);

typedef enum tg_EntryKind {
  TG_ENTRY_NONE = 0,      /* zeroed memory: no entry */
  TG_ENTRY_PROGRAM = 1,
  TG_ENTRY_FUNCTION = 2,
  TG_ENTRY_TRACE = 3,
  TG_ENTRY_SOURCE = 4,
  TG_ENTRY_COSTS = 5,
  TG_ENTRY_MISSES = 6
} tg_EntryKind;

#define TG_ENTRY_HEAD 8u
#define TG_ENTRY_ABSENT UINT32_MAX

/* Who was recorded. */
typedef struct tg_Program {
  char *name;             /* owns, as the others; NULL: not known */
  char *tracegrip, *lua;  /* versions */
  char *asked;            /* why frames were asked of Lua's public API; empty:
                             they were read from memory */
  char *directory;        /* in which it was when tracing was entered */
  char **arguments;       /* each owned */
  uint32_t count;         /* of them */
  bool remote;            /* recorded over a connection, by another process:
                             the arguments are not known */
  uint32_t pid;           /* of one that is remote; 0: not known */
  uint32_t pins;          /* of one that is shared */
} tg_Program;

void tg_program_free (tg_Program *p);

/* How a trace ended; zero as long as it runs. Comes first in its entry and is
   filled in later, in place: 'why' last. */
typedef struct tg_TraceEnd {
  uint32_t why;           /* tg_End */
  uint32_t reserved;
  tg_Pos stop;
  uint64_t ticks;
  uint64_t packets;       /* the stream's count there */
  uint64_t lost[8];       /* by cause; the first TG_NLOSSES are used */
} tg_TraceEnd;

/* One trace. */
typedef struct tg_TraceEntry {
  tg_TraceEnd end;
  tg_Pos start;
  uint64_t ticks;
  uint64_t packets;       /* the stream's count there */
  char *name;             /* owns */
  tg_Options options;     /* owns */
} tg_TraceEntry;

void tg_trace_entry_free (tg_TraceEntry *t);

/* ---- writing: each appends one whole entry ---- */

void tg_entry_program (tg_Buf *out, const tg_Program *p);
void tg_entry_costs (tg_Buf *out, const tg_Costs *c);
void tg_entry_function (tg_Buf *out, tg_FunctionId id, const tg_Function *f);
void tg_entry_trace (tg_Buf *out, const tg_TraceEntry *t);
void tg_entry_misses (tg_Buf *out, const tg_Misses *m);
void tg_entry_source (tg_Buf *out, const char *url, const char *text,
                      size_t size);

/* ---- reading ---- */

/* An entry's place; its bytes follow its head. */
typedef struct tg_Entry {
  uint32_t kind, size;
  const uint8_t *data;    /* borrows */
} tg_Entry;

/* The entry at '*p', which moves on to the next; false at 'end', or if what is
   there is no entry. */
bool tg_entry_next (const uint8_t **p, const uint8_t *end, tg_Entry *e);

/* What an entry says, all of it owned by '*out' afterwards, which is zeroed if
   they fail: TG_ERR_FORMAT, TG_ERR_MEMORY. */
tg_Status tg_entry_read_program (const tg_Entry *e, tg_Program *out);
tg_Status tg_entry_read_function (const tg_Entry *e, tg_FunctionId *id,
                                  tg_Function *out);
tg_Status tg_entry_read_trace (const tg_Entry *e, tg_TraceEntry *out);

/* Costs that are not in it are 0: an older tracegrip did not tell them
   apart. */
void tg_entry_read_costs (const tg_Entry *e, tg_Costs *out);

tg_Status tg_entry_read_misses (const tg_Entry *e, tg_Misses *out);

/* A source's name and text, which are borrowed from the entry. */
tg_Status tg_entry_read_source (const tg_Entry *e, tg_Slice *url,
                                tg_Slice *text);

#endif
