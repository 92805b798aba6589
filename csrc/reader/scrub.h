/*
** scrub.h - a recording's file once more, without what is to be kept secret.
**
** All that is not hidden stays where it was, byte for byte: what is hidden is
** replaced by something of the same size (redact.h), so a recording that was
** cut off is cut off at the same place, and positions, times, losses and
** traces are what they were. Only blocks that are packed have another size
** then, and what follows them another place in the file.
**
**     first   all blocks are read, and what is hidden by its name is learned
**     then    they are copied, without that and without strings that hold it
**
** So a value is hidden before it was met under its name, too. Texts that are no
** values lose the secrets in them, which become stars: the program's arguments,
** sources, names of chunks that are their own text. Memory: a block, and what
** is learned.
**
** Plain C, one thread, never in the hook.
*/
#ifndef TG_SCRUB_H
#define TG_SCRUB_H

#include "options/options.h"

#define TG_SCRUB_SECRETS (UINT32_C(1) << 20)    /* that can be learned */

typedef struct tg_Scrubbed {
  uint64_t secrets;       /* texts that were learned */
  uint64_t values;        /* that were hidden */
  uint64_t undecided;     /* names that patterns took too long over: secret */
} tg_Scrubbed;

/*
** Writes what is at 'from' to 'to', which must not be there. TG_OK; TG_ERR_IO
** with errno, 'aside' whether of 'to'; TG_ERR_MEMORY; TG_ERR_FORMAT with the
** reason in words. 'to' is not there then.
*/
tg_Status tg_scrub (const char *from, const char *to, const tg_Options *hide,
                    tg_Scrubbed *done, bool *aside, char *reason, size_t size);

#endif
