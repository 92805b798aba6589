/*
** formats.h - the function of each format in the table of export.c.
*/
#ifndef TG_FORMATS_H
#define TG_FORMATS_H

#include "export/export.h"

tg_Status tg_format_chrome (tg_Export *x);
tg_Status tg_format_cpuprofile (tg_Export *x);
tg_Status tg_format_firefox (tg_Export *x);
tg_Status tg_format_folded (tg_Export *x);
tg_Status tg_format_gecko (tg_Export *x);
tg_Status tg_format_speedscope (tg_Export *x);
tg_Status tg_format_packets (tg_Export *x);

/* What of them can be done with each batch by itself. */
tg_BatchWork tg_chrome_work;
tg_BatchWork tg_packets_work;

#endif
