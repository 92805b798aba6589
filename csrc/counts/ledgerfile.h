/*
** ledgerfile.h - what is in a file of counts: a head and records, as the
** process has them in its memory (ledger.h).
**
**     | head | source | function | function | lines | source | ... | zeros |
**     |<-------------------------- used -------------------------->|
**
** Numbers are the machine's own: who reads it is on the same. A record begins
** where eight bytes do, and ends within a piece; what is left of one is a
** record of nothing. Sources and functions are numbered from 1, each in the
** order of their records. 'used' grows when a record is complete; a count is
** one store at any time. So the file is good whenever its process was killed.
*/
#ifndef TG_LEDGERFILE_H
#define TG_LEDGERFILE_H

#include <stdatomic.h>

#include "base/base.h"

#define TG_LEDGER_MAGIC "TGCOUNT1"
#define TG_LEDGER_LINES 16      /* of a record of lines */
#define TG_LEDGER_FIRST 256     /* of a record of a function, at most */

typedef struct tg_LedgerHead {
  char magic[8];
  _Atomic uint64_t used;        /* bytes of head and records */
  int64_t process;
  int32_t error;                /* errno for which counts are missing; 0 */
  uint32_t unused;
} tg_LedgerHead;

typedef enum tg_LedgerKind {
  TG_LEDGER_NOTHING, TG_LEDGER_SOURCE, TG_LEDGER_FUNCTION, TG_LEDGER_COUNTS
} tg_LedgerKind;

/* What each record begins with. */
typedef struct tg_LedgerRecord {
  uint32_t kind;                /* tg_LedgerKind */
  uint32_t size;                /* all of it, a multiple of 8 */
} tg_LedgerRecord;

/* A source as lua_Debug has it, and the working directory when it was first
   seen, if its name is relative: both follow, without ends. */
typedef struct tg_LedgerSource {
  tg_LedgerRecord record;
  uint32_t size, directory;     /* bytes of the two */
} tg_LedgerSource;

/* With the counts of as many lines as there is room for in the record. */
typedef struct tg_LedgerFunction {
  tg_LedgerRecord record;
  uint32_t source;              /* its number */
  int32_t first, last;          /* lines; 0 of a main chunk */
  uint32_t unused;
  uint64_t calls;
  uint64_t lines[];             /* of line first + k */
} tg_LedgerFunction;

/* Of lines first + page * TG_LEDGER_LINES and those that follow: of long
   functions, which nobody has to go through to their end. */
typedef struct tg_LedgerCounts {
  tg_LedgerRecord record;
  uint32_t function, page;
  uint64_t counts[TG_LEDGER_LINES];
} tg_LedgerCounts;

#endif
