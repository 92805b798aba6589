/*
** firefox.h - the two formats of the Firefox Profiler, as the table has them.
*/
#ifndef TG_FIREFOX_H
#define TG_FIREFOX_H

#include "export/export.h"

tg_Status tg_format_firefox (tg_Export *x);
tg_Status tg_format_gecko (tg_Export *x);

#endif
