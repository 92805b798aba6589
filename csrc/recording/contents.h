/*
** contents.h - what takes the room in a recording, and what would take less.
**
** Counted from the bytes of its events: of all of them, or of blocks that are
** spread evenly over a large file, so that it takes no longer than a moment.
** Nothing is counted while the program runs. Plain C; any thread, on a
** recording that nobody else reads just now.
*/
#ifndef TG_CONTENTS_H
#define TG_CONTENTS_H

#include "recording/open.h"

/* What bytes are there for, and in words. */
#define TG_CONTENTS(X) \
  X(TABLES, "tables", "contents of tables") \
  X(STRINGS, "strings", "strings of more than 16 bytes") \
  X(VALUES, "values", "values") \
  X(CALLS, "calls", "calls as such") \
  X(SAMPLES, "samples", "samples") \
  X(OTHER, "other", "other events") \
  X(DEFINITIONS, "definitions", "definitions of functions, and sources")

enum {
#define X(id, name, words) TG_CONTENTS_##id,
  TG_CONTENTS(X)
#undef X
  TG_NCONTENTS
};

typedef struct tg_Contents {
  uint64_t bytes[TG_NCONTENTS];
  uint64_t whole;           /* their sum: the file, if nothing was packed */
  uint64_t file;            /* its bytes */
  bool sampled;             /* not all blocks were looked at */
} tg_Contents;

/* What would be smaller than a recording: the options, and how large it would
   be about. */
typedef struct tg_Smaller {
  const char *options;      /* of the command line */
  uint64_t bytes;
} tg_Smaller;

#define TG_SMALLER_MAX 2

typedef struct tg_Words {
  char text[256];
  size_t size;
} tg_Words;

/* False without memory, or if the file could not be read. */
bool tg_contents_measure (const tg_Recording *r, tg_Contents *c);

/* A name for programs: "tables". */
const char *tg_contents_name (int cause);

/* What would be smaller by enough to be told of, into the list; how many. */
int tg_contents_smaller (const tg_Contents *c, tg_Smaller list[TG_SMALLER_MAX]);

/* "70 % of it contents of tables: --value-depth 0 is about 240 MiB". */
void tg_contents_words (const tg_Contents *c, tg_Words *out);

#endif
