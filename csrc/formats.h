/*
** formats.h - the function of each format in the table of export.c.
*/
#ifndef TG_FORMATS_H
#define TG_FORMATS_H

#include "export.h"

tg_Status tg_export_packets (tg_Export *x);

#endif
