/*
** newfile.h - the files that are written: their owner's alone, and never by way
** of a symbolic link.
**
** A recording, a log, an export has the program's values in it: so what is made
** here has the mode 0600, less what the umask takes. A link as the last part of
** a name may be somebody else's, and lead anywhere: it is refused with ELOOP,
** except below /dev and /proc/self/fd, where links are the system's. Plain C;
** any thread.
*/
#ifndef TG_NEWFILE_H
#define TG_NEWFILE_H

#include "base/base.h"

#define TG_NEWFILE_MODE 0600

/* Whether there is a link of that name that an output must not follow. */
bool tg_newfile_is_link (const char *path);

/* A descriptor of 'path', emptied or made; -1 with errno. */
int tg_newfile_open (const char *path);

/* One of a file of its own beside 'path', "PATH.XXXXXX.part"; its name, to be
   freed, in '*name'. -1 with errno. */
int tg_newfile_beside (const char *path, char **name);

/* Puts what was written beside 'path' in its place: rename(2) leaves either the
   old file or the new one under the name. If it is not 'whole', or that fails,
   it is removed: false, with the errno of that or the one that was. */
bool tg_newfile_place (const char *working, const char *path, bool whole);

/* Removes a file that could not be written to its end; what is no regular file
   stays. Keeps errno. */
void tg_newfile_drop (const char *path);

/* What an errno means where a file is written: as strerror, but in words for
   what that says nothing about. */
const char *tg_newfile_words (int error);

#endif
