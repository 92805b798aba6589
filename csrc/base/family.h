/*
** family.h - which processes belong together, by a number.
**
** A command that runs others leaves many recordings, and none of these may be
** taken for one of yesterday's. The process that started them all is found by
** following parents, as long as their environments assign the same.
*/
#ifndef TG_FAMILY_H
#define TG_FAMILY_H

#include "base/base.h"

/*
** The number of this process's family, never 0: of the furthest parent that,
** like all processes between, was started with the same value of the variable
** 'name' as this process has now. NULL, or no such variable: of this process.
** The number tells processes apart that had one pid after the other, also when
** the machine was started anew in between.
*/
uint32_t tg_family (const char *name);

#endif
