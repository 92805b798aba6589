/*
** chrome.h - the formats of Chrome's tools, as the table has them: trace
** events, and the CPU profile of V8.
*/
#ifndef TG_CHROME_H
#define TG_CHROME_H

#include "export/export.h"

tg_Status tg_format_chrome (tg_Export *x);
tg_Status tg_format_cpuprofile (tg_Export *x);

/* What can be done with each batch of a trace's events by itself. */
tg_BatchWork tg_chromevalues_work;

#endif
