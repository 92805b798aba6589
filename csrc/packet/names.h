/*
** names.h - text for a sink, and what packets and descriptors both say of a
** function.
**
** A sink takes valid UTF-8; names, sources and keys may be any bytes. Where
** text has to be rebuilt, it is in 'room', a buffer of the caller's.
*/
#ifndef TG_NAMES_H
#define TG_NAMES_H

#include "base/buf.h"
#include "stream/functions.h"
#include "text/sink.h"

/* Writes a literal string; a literal key; a member of two literals. */
#define tg_sink_word(out, s) ((out)->string((out), (s), sizeof(s) - 1))
#define tg_sink_key(out, s) \
  do { \
    static const tg_Word tg_word = TG_WORD(s); \
    (out)->word((out), &tg_word); \
  } while (0)
#define tg_sink_member(out, name, value) \
  do { \
    static const tg_Member tg_member = TG_MEMBER(name, value); \
    (out)->member((out), &tg_member); \
  } while (0)

/* Writes text; what is not UTF-8 comes out as \xHH. NULL is empty. */
void tg_sink_text (tg_Sink *out, tg_Buf *room, const char *s, size_t size);
void tg_sink_string (tg_Sink *out, tg_Buf *room, const char *s);

/* The name of a function, which may be NULL. */
void tg_names_function (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* An array of the parameters' names, "..." for any further ones. */
void tg_names_params (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* The keys url and line of a definition; C functions have no line. */
void tg_names_place (tg_Sink *out, tg_Buf *room, const tg_Function *f);

/* A field by its name: a count, a time in milliseconds. */
void tg_sink_count (tg_Sink *out, const char *name, uint64_t n);
void tg_sink_ms (tg_Sink *out, const char *name, uint64_t ns);

#endif
