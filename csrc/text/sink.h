/*
** sink.h - where a structured document goes: JSON text or Lua tables.
**
** Whoever writes packets calls these in document order; inside an object every
** value comes after its key. Implementations: jsonwriter.c (text into a
** tg_Buf), luasink.c (tables on the Lua stack), whose calls may raise.
*/
#ifndef TG_SINK_H
#define TG_SINK_H

#include "base/base.h"
#include "base/buf.h"

typedef struct tg_Sink tg_Sink;

/* A key that is a word of the protocol, ready to be copied: the text of a
   member up to its colon, after a comma that may be passed over. */
#define TG_WORD_MAX 32

typedef struct tg_Word {
  char text[TG_WORD_MAX];
  size_t size;
} tg_Word;

#define TG_WORD(s) {",\"" s "\":", sizeof(",\"" s "\":") - 1}

/* Members that are always the same, the same way: a string, or three flags. */
typedef struct tg_Member {
  const char *text;
  size_t size;
  const char *name, *value;     /* NULL: flags */
  struct {
    const char *name;
    bool value;
  } flags[3];
} tg_Member;

#define TG_MEMBER(name, value) \
  {",\"" name "\":\"" value "\"", sizeof(",\"" name "\":\"" value "\"") - 1, \
   name, value, {{0}}}

#define TG_FLAGS(a, av, b, bv, c, cv) \
  {",\"" a "\":" #av ",\"" b "\":" #bv ",\"" c "\":" #cv, \
   sizeof(",\"" a "\":" #av ",\"" b "\":" #bv ",\"" c "\":" #cv) - 1, \
   NULL, NULL, {{a, av}, {b, bv}, {c, cv}}}

struct tg_Sink {
  void (*object) (tg_Sink *s);                /* opens {...} */
  void (*array) (tg_Sink *s);                 /* opens [...] */
  void (*close) (tg_Sink *s);                 /* closes the innermost */
  void (*key) (tg_Sink *s, const char *k, size_t size);
  void (*word) (tg_Sink *s, const tg_Word *k);  /* a key */
  void (*member) (tg_Sink *s, const tg_Member *m);
  void (*string) (tg_Sink *s, const char *v, size_t size);  /* valid UTF-8 */
  void (*integer) (tg_Sink *s, int64_t v);
  void (*number) (tg_Sink *s, double v);      /* finite, stays a float */
  void (*boolean) (tg_Sink *s, bool v);
  void (*ms) (tg_Sink *s, uint64_t ns);       /* nanoseconds, as ms */
};

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

/* Writes text; what is not UTF-8 comes out as \xHH. NULL is empty. Text that
   has to be rebuilt is in 'room', a buffer of the caller's. */
void tg_sink_text (tg_Sink *out, tg_Buf *room, const char *s, size_t size);
void tg_sink_string (tg_Sink *out, tg_Buf *room, const char *s);

/* A field by its name: a count, a time in milliseconds. */
void tg_sink_count (tg_Sink *out, const char *name, uint64_t n);
void tg_sink_ms (tg_Sink *out, const char *name, uint64_t ns);

#endif
