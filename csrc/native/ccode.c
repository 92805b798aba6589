/* ccode.c - see ccode.h. */
#include "native/ccode.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/grow.h"

#define CODES 65536u            /* answers that are kept */

void tg_ccodes_open (tg_CCodes *c, const tg_Libdw *lib, Dwfl *dwfl,
                     tg_Memory *memory) {
  *c = (tg_CCodes){.lib = lib, .dwfl = dwfl, .memory = memory};
}

void tg_ccodes_close (tg_CCodes *c) {
  for (uint32_t i = 0; i < c->count; i++) {
    tg_free(c->list[i].title);
  }
  tg_free(c->list);
  tg_free(c->core);
  tg_intmap_free(&c->places);
  *c = (tg_CCodes){0};
}

/*
** {==================================================================
** The interpreter's file
** ===================================================================
*/

/* Sources of the interpreter and of its auxiliary library, as symbol tables
   name them. */
static bool is_core (const char *file) {
  static const char *const names[] = {
    "lapi.c", "lauxlib.c", "lcode.c", "lctype.c", "ldebug.c", "ldo.c",
    "ldump.c", "lfunc.c", "lgc.c", "llex.c", "lmem.c", "lobject.c",
    "lopcodes.c", "lparser.c", "lstate.c", "lstring.c", "ltable.c", "ltm.c",
    "lundump.c", "lvm.c", "lzio.c"
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(file, names[i]) == 0)
      return true;
  }
  return false;
}

static void add_core (tg_CCodes *c, uint64_t from, uint64_t size) {
  if (tg_grow(&c->core, &c->core_capacity, c->ncore + 1, sizeof *c->core))
    c->core[c->ncore++] = (tg_CRange){from, from + size};
}

/* Static symbols come behind their file's, and before all others. */
static void meet_symbol (tg_CCodes *c, Dwfl_Module *module, int i,
                         bool *core) {
  Elf64_Sym symbol;
  uint64_t at;
  const char *name = c->lib->module_getsym_info(module, i, &symbol, &at, NULL,
                                                NULL, NULL);
  if (name == NULL)
    return;
  unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_FILE)
    *core = is_core(name);
  else if (type != STT_FUNC || symbol.st_shndx == SHN_UNDEF)
    return;
  else if (*core && ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
    add_core(c, at, symbol.st_size);
  else if (strcmp(name, "lua_newstate") == 0)
    c->host = module;
}

void tg_ccodes_meet (tg_CCodes *c, Dwfl_Module *module) {
  int n = c->lib->module_getsymtab(module);
  bool core = false, known = c->host != NULL;
  for (int i = 1; i < n && !known; i++)
    meet_symbol(c, module, i, &core);
  if (c->host == NULL)
    c->ncore = 0;
}

/* lua_pcall, luaL_ref, luaV_execute; not luaopen_x, which a program has. */
static bool is_named_so (const char *name) {
  return strncmp(name, "lua", 3) == 0
         && (name[3] == '_' || (name[3] >= 'A' && name[3] <= 'Z'
                                && name[4] == '_'));
}

static bool is_static (const tg_CCodes *c, uint64_t pc) {
  for (uint32_t i = 0; i < c->ncore; i++) {
    if (pc >= c->core[i].from && pc < c->core[i].to)
      return true;
  }
  return false;
}

static bool is_interpreter (const tg_CCodes *c, const Dwfl_Module *module,
                            uint64_t pc, const char *name) {
  return module == c->host
         && (name == NULL || is_named_so(name) || is_static(c, pc));
}

/* }================================================================== */

/*
** {==================================================================
** Where a function begins
** ===================================================================
*/

/* The segment of the unwinder's table; 0: none is found. 'base' is where the
   file's first bytes are. */
static uint64_t find_table (tg_Memory *m, uint64_t base) {
  Elf64_Ehdr head;
  if (!tg_memory_block(m, base, &head, sizeof head)
      || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0
      || head.e_phentsize != sizeof(Elf64_Phdr))
    return 0;
  uint64_t bias = 0, table = 0;
  bool placed = false;
  for (unsigned i = 0; i < head.e_phnum && i < 64; i++) {
    Elf64_Phdr p;
    if (!tg_memory_block(m, base + head.e_phoff + i * sizeof p, &p, sizeof p))
      return 0;
    if (p.p_type == PT_LOAD && !placed) {
      bias = base - (p.p_vaddr - p.p_offset);
      placed = true;
    }
    if (p.p_type == PT_GNU_EH_FRAME)
      table = p.p_vaddr;
  }
  return (placed && table != 0) ? bias + table : 0;
}

/* Pairs of two distances from the table's begin, sorted: a function, and what
   there is of it (the "binary search table" of the Linux Standard Base, in the
   one encoding that linkers write). 0: not known. */
static uint64_t search_table (tg_Memory *m, uint64_t table, uint64_t pc) {
  uint8_t head[12];
  uint32_t count;
  if (!tg_memory_block(m, table, head, sizeof head) || head[0] != 1
      || head[2] != 0x03 || head[3] != 0x3b)
    return 0;
  memcpy(&count, head + 8, sizeof count);
  int64_t wanted = (int64_t)(pc - table), found = 0;
  bool any = false;
  for (uint32_t low = 0, high = count; low < high;) {
    uint32_t middle = low + (high - low) / 2;
    int32_t begin;
    if (!tg_memory_block(m, table + 12 + 8 * (uint64_t)middle, &begin,
                         sizeof begin))
      return 0;
    if (begin <= wanted) {
      found = begin;
      any = true;
      low = middle + 1;
    }
    else
      high = middle;
  }
  return any ? table + (uint64_t)found : 0;
}

/* }================================================================== */

static const char *base_name (const char *path) {
  const char *slash = strrchr(path, '/');
  return (slash != NULL) ? slash + 1 : path;
}

/* Without the version that a symbol has ("@@GLIBC_2.34"). */
static char *title_of (const char *name, const char *file, uint64_t offset) {
  char text[600];
  if (name != NULL) {
    size_t n = strcspn(name, "@");
    snprintf(text, sizeof text, "%.*s (%.250s)", n < 300 ? (int)n : 300, name,
             file);
  }
  else
    snprintf(text, sizeof text, "%.250s+0x%llx", file,
             (unsigned long long)offset);
  return tg_strcopy(text);
}

/* Code that no file has: the kernel's ("[vdso]"), or made while it runs. */
static char *title_of_map (const tg_Memory *m, uint64_t pc) {
  const tg_Map *map = tg_maps_find(&m->maps, pc);
  bool named = map != NULL && map->path != NULL;
  return tg_strcopy(named ? base_name(map->path) : "(code without a file)");
}

static void describe_in (tg_CCodes *c, Dwfl_Module *module, uint64_t pc,
                         tg_CCode *code) {
  Elf64_Sym symbol;
  uint64_t base = 0, offset = 0;
  const char *file = c->lib->module_info(module, NULL, &base, NULL, NULL, NULL,
                                         NULL, NULL);
  const char *name = c->lib->module_addrinfo(module, pc, &offset, &symbol, NULL,
                                             NULL, NULL);
  uint64_t table = find_table(c->memory, base);
  code->start = (table != 0) ? search_table(c->memory, table, pc) : 0;
  if (code->start == 0 && name != NULL)
    code->start = pc - offset;
  code->interpreter = is_interpreter(c, module, pc, name);
  uint64_t place = (code->start != 0) ? code->start : pc;
  code->title = title_of(name, base_name(file != NULL ? file : "?"),
                         place - base);
}

static void describe (tg_CCodes *c, uint64_t pc, tg_CCode *code) {
  Dwfl_Module *module = c->lib->addrmodule(c->dwfl, pc);
  if (module != NULL)
    describe_in(c, module, pc, code);
  else
    code->title = title_of_map(c->memory, pc);
}

uint32_t tg_ccodes_at (tg_CCodes *c, uint64_t pc) {
  uint32_t place = tg_intmap_find(&c->places, pc);
  if (place != TG_INTMAP_NONE)
    return place;
  if (c->count == CODES
      || !tg_grow(&c->list, &c->capacity, c->count + 1, sizeof *c->list)
      || !tg_intmap_set(&c->places, pc, c->count))
    return TG_INTMAP_NONE;
  c->list[c->count] = (tg_CCode){0};
  describe(c, pc, &c->list[c->count]);
  return c->count++;
}
