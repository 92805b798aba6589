/*
** claim.h - whose a recording's file is.
**
** Processes that start at once may want one file, and an older recording may be
** in it. Each claims it: an older recording makes way, one that is being made
** does not, nor does one of the same *run*, and nothing else that is there
** either. A run is a number that processes share which belong together
** (family.h): what one of them has recorded is not older to the others.
**
** Two things make this hold for any number of processes. A file is made by
** O_EXCL and locked (flock) as long as it is recorded on; and nobody removes
** one whose lock he has not, nor before he has seen, with the lock, that it
** still has the name. So what is removed is never what somebody has just made.
*/
#ifndef TG_CLAIM_H
#define TG_CLAIM_H

#include "base/base.h"

/*
** A descriptor of the file at 'path', new, empty and locked. -1 with errno;
** EEXIST: it is taken. 'run' 0: whatever is there stays. 'force': files that
** are no recordings make way too, and so does what another run is recording.
*/
int tg_claim (const char *path, uint32_t run, bool force);

/* Whether a claim could make a file, or remove the one that is there: tried.
   False with errno, ELOOP: it is a link (newfile.h). */
bool tg_claim_try (const char *path);

#endif
