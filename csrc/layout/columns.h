/*
** columns.h - the columns of rows.h by name: TG_V543(...) is that of 5.4.3
** among the figures of a row. The rows have the same ones in the same order
** (build-aux/layouts.sh).
*/
#ifndef TG_COLUMNS_H
#define TG_COLUMNS_H

#define TG_V510(first, ...) first
#define TG_V513(first, ...) TG_V510(__VA_ARGS__)
#define TG_V520(first, ...) TG_V513(__VA_ARGS__)
#define TG_V521(first, ...) TG_V520(__VA_ARGS__)
#define TG_V524(first, ...) TG_V521(__VA_ARGS__)
#define TG_V530(first, ...) TG_V524(__VA_ARGS__)
#define TG_V531(first, ...) TG_V530(__VA_ARGS__)
#define TG_V532(first, ...) TG_V531(__VA_ARGS__)
#define TG_V533(first, ...) TG_V532(__VA_ARGS__)
#define TG_V534(first, ...) TG_V533(__VA_ARGS__)
#define TG_V540(first, ...) TG_V534(__VA_ARGS__)
#define TG_V541(first, ...) TG_V540(__VA_ARGS__)
#define TG_V542(first, ...) TG_V541(__VA_ARGS__)
#define TG_V543(first, ...) TG_V542(__VA_ARGS__)
#define TG_V544(first, ...) TG_V543(__VA_ARGS__)
#define TG_V550(first, ...) TG_V544(__VA_ARGS__)
#define TG_V551(first, ...) TG_V550(__VA_ARGS__)

#endif
