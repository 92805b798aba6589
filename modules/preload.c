/*
** preload.c - tracegrip gets into a program that embeds Lua 5.4 or 5.5 and
** heeds no LUA_INIT: "record --preload -- command" has the loader put this
** object before the libraries of the command and of all that the command runs
** (LD_PRELOAD).
**
** Every Lua state runs code that somebody has loaded. So the functions that
** load chunks are wrapped here, and before the first chunk of a state tracegrip
** begins in it (lua/tracegrip/hosted.lua): whatever libraries the host opens,
** in whatever way, they are there by then, and an interpreter of the command
** line is known by the chunk: its first is boot.lua, which begins itself.
** States of tracegrip's own are left alone.
**
** This object is linked with no Lua, since most programs have none: what it
** calls is looked up in the library of which the host calls a function. A
** process may have several, of several versions; those before 5.4 are called
** and no more. A host that has Lua inside is not reached: the loader puts
** nothing before that.
**
** On any thread. Nothing raises: all that may is in a protected call, the
** host's stack is as it was, and what goes wrong is a line on standard error.
*/
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lua.h>
#include <lauxlib.h>

#define PUBLIC __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

/* What is called of a host's Lua. */
#define FUNCTIONS(X) \
  X(lua_version) X(lua_checkstack) X(lua_gettop) X(lua_settop) X(lua_rotate) \
  X(lua_pushboolean) X(lua_pushcclosure) \
  X(lua_pushstring) X(lua_toboolean) X(lua_tolstring) \
  X(lua_rawgetp) X(lua_rawsetp) X(lua_createtable) \
  X(lua_setupvalue) X(lua_error) X(lua_callk) X(lua_pcallk) \
  X(luaL_loadfilex) X(luaL_loadbufferx)

#define FIELD(name) __typeof__(&name) name;

typedef struct Api {
  FUNCTIONS(FIELD)
  struct Api *next;       /* in 'apis' */
  const void *base;       /* where the library is in memory */
  const char *path;       /* its file; the loader's string */
  void *handle;
  int registry;           /* its LUA_REGISTRYINDEX; 0: not 5.4 or 5.5 */
  const char *name;       /* its _VERSION */
  const char *variable;   /* that its interpreter heeds */
} Api;

/* Where a state has been met. */
typedef struct Meeting {
  const Api *api;
  const void *caller;     /* who loads its first chunk */
  const char *file;       /* that it is of; NULL: it is of none */
} Meeting;

static const char met;    /* its address: key in a state's registry */

static _Thread_local const Meeting *now;      /* of which the boot is running */

/*
** {==================================================================
** The host's Lua
** ===================================================================
*/

static Api *apis;         /* a list that only grows */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *in_scope_of (const void *caller, const char *name) {
  Dl_info info;
  void *handle = dladdr(caller, &info) != 0
                 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (handle == NULL)
    return NULL;
  void *function = dlsym(handle, name);
  dlclose(handle);
  return function;
}

/* What the caller would have got without this object: the loader's order is
   that of all programs first, then the libraries of a plug-in alone. */
static void *behind (const char *name, const void *caller) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL)
    function = in_scope_of(caller, name);
  if (function == NULL) {
    fprintf(stderr, "tracegrip: there is no %s behind that of preload.so\n",
            name);
    abort();
  }
  return function;
}

static bool same (const char *a, const char *b) {
  return strcmp(a, b) == 0;
}

/* That of a release before 5.4 is not read further, and may be of another
   type: lua_setwarnf came with 5.4. */
static void recognize (Api *a, lua_State *L) {
  if (dlsym(a->handle, "lua_setwarnf") == NULL)
    return;
#define LOOKUP(function) { \
    void *p = dlsym(a->handle, #function); \
    if (p == NULL) \
      return; \
    memcpy(&a->function, &p, sizeof p); \
  }
  FUNCTIONS(LOOKUP)
  int version = (int)a->lua_version(L);
  if (version == 504) {
    a->name = "Lua 5.4";
    a->variable = "LUA_INIT_5_4";
    a->registry = -1000000 - 1000;
  }
  else if (version == 505) {
    a->name = "Lua 5.5";
    a->variable = "LUA_INIT_5_5";
    a->registry = -(INT_MAX / 2 + 1000);
  }
}

/* Such a library stays in memory: its functions are kept here, and a host may
   unload a plug-in. */
static Api *add_api (const Dl_info *info, lua_State *L) {
  Api *a = calloc(1, sizeof *a);
  if (a == NULL)
    return NULL;
  a->base = info->dli_fbase;
  a->path = info->dli_fname;
  a->handle = dlopen(a->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (a->handle != NULL)
    recognize(a, L);
  a->next = apis;
  apis = a;
  return a;
}

/* The library of a function; NULL if it is of no version that we can be in. */
static const Api *api_of (const void *function, lua_State *L) {
  Dl_info info;
  if (dladdr(function, &info) == 0)
    return NULL;
  pthread_mutex_lock(&lock);
  Api *a = apis;
  while (a != NULL && a->base != info.dli_fbase)
    a = a->next;
  if (a == NULL)
    a = add_api(&info, L);
  pthread_mutex_unlock(&lock);
  return a != NULL && a->registry != 0 ? a : NULL;
}

/* }================================================================== */

/*
** {==================================================================
** What hosted.lua needs of Lua, of which a host may have opened nothing
** ===================================================================
*/

static int raise (const Api *a, lua_State *L, const char *text) {
  a->lua_pushstring(L, text);
  return a->lua_error(L);
}

/* variable(name) -> text | nil. */
static int variable (lua_State *L) {
  const Api *a = now->api;
  a->lua_pushstring(L, getenv(a->lua_tolstring(L, 1, NULL)));
  return 1;
}

/* parse(text) -> what a chunk of that text returns. */
static int parse (lua_State *L) {
  const Api *a = now->api;
  size_t size;
  const char *text = a->lua_tolstring(L, 1, &size);
  if (a->luaL_loadbufferx(L, text, size, "=TRACEGRIP_BOOT", "t") != LUA_OK)
    return a->lua_error(L);
  a->lua_callk(L, 0, 1, 0, NULL);
  return 1;
}

/* attempt(f, ...) -> true and what f returns | false and what it raised. */
static int attempt (lua_State *L) {
  const Api *a = now->api;
  int n = a->lua_gettop(L) - 1;
  int status = a->lua_pcallk(L, n, LUA_MULTRET, 0, 0, NULL);
  a->lua_pushboolean(L, status == LUA_OK);
  a->lua_rotate(L, 1, 1);
  return a->lua_gettop(L);
}

/* The module finds Lua's functions among those that all of the process see, so
   there its library must be, and no other before it. That of a plug-in is not,
   at first. */
static void show_to_all (const Api *a, lua_State *L) {
  void *function = dlsym(a->handle, "lua_newstate");
  if (dlsym(RTLD_DEFAULT, "lua_newstate") != function)
    dlopen(a->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  if (dlsym(RTLD_DEFAULT, "lua_newstate") != function)
    raise(a, L, "the process has another Lua before this one");
}

/* open(path) -> the module tracegrip.core. */
static int open (lua_State *L) {
  const Api *a = now->api;
  lua_CFunction function = NULL;
  show_to_all(a, L);
  void *handle = dlopen(a->lua_tolstring(L, 1, NULL), RTLD_NOW);
  void *p = handle != NULL ? dlsym(handle, "luaopen_tracegrip_core") : NULL;
  if (p == NULL)
    return raise(a, L, dlerror());
  memcpy(&function, &p, sizeof p);
  a->lua_pushcclosure(L, function, 0);
  a->lua_pushstring(L, "tracegrip.core");
  a->lua_rotate(L, 1, -1);              /* function, name, path */
  a->lua_callk(L, 2, 1, 0, NULL);
  return 1;
}

/* }================================================================== */

/*
** {==================================================================
** A state is met
** ===================================================================
*/

/* "@/.../boot.lua", by which an interpreter begins; without it somebody has put
   tracegrip aside, as tracegrip does for its own command line. */
static const char *boot_file (const Api *a) {
  const char *text = getenv(a->variable);
  const char *slash = text != NULL ? strrchr(text, '/') : NULL;
  bool is = slash != NULL && *text == '@' && same(slash, "/boot.lua");
  return is && getenv("TRACEGRIP_BOOT") != NULL ? text + 1 : NULL;
}

/* Whether tracegrip's own library, or this object, is who calls. */
static bool is_ours (const void *caller) {
  Dl_info info, own;
  if (dladdr(caller, &info) == 0)
    return false;
  return (dladdr(&met, &own) != 0 && own.dli_fbase == info.dli_fbase)
         || in_scope_of(caller, "luaopen_tracegrip_core") != NULL;
}

static bool known (const Api *a, lua_State *L) {
  a->lua_rawgetp(L, a->registry, &met);
  bool is = a->lua_toboolean(L, -1) != 0;
  a->lua_settop(L, -2);
  return is;
}

/* Runs hosted.lua, which is beside boot.lua; without the host's globals. */
static void begin (const Api *a, lua_State *L, const char *boot) {
  char path[PATH_MAX];
  int folder = (int)(strrchr(boot, '/') - boot);
  snprintf(path, sizeof path, "%.*s/hosted.lua", folder, boot);
  if (a->luaL_loadfilex(L, path, "t") != LUA_OK)
    a->lua_error(L);
  a->lua_createtable(L, 0, 0);
  if (a->lua_setupvalue(L, -2, 1) == NULL)      /* it has no _ENV */
    a->lua_settop(L, -2);
  a->lua_pushstring(L, a->name);
  a->lua_pushcclosure(L, variable, 0);
  a->lua_pushcclosure(L, parse, 0);
  a->lua_pushcclosure(L, attempt, 0);
  a->lua_pushcclosure(L, open, 0);
  a->lua_callk(L, 5, 0, 0, NULL);
}

/* Called protected. The state is marked first: what fails once is not tried
   with each chunk. */
static int meet_protected (lua_State *L) {
  const Api *a = now->api;
  a->lua_pushboolean(L, 1);
  a->lua_rawsetp(L, a->registry, &met);
  const char *boot = boot_file(a);
  if (boot != NULL && !is_ours(now->caller)
      && (now->file == NULL || !same(now->file, boot)))
    begin(a, L, boot);
  return 0;
}

static void complain (const Api *a, lua_State *L) {
  const char *message = a->lua_tolstring(L, -1, NULL);
  int size = message != NULL ? (int)strcspn(message, "\n") : 0;
  fprintf(stderr, "tracegrip: this Lua state is not traced: %.*s\n", size,
          message != NULL ? message : "");
}

/* The room on the stack is the host's to give, and is asked for without
   raising: where there is none the state is met with its next chunk. */
static void meet (const Api *a, lua_State *L, const void *caller,
                  const char *file) {
  if (!a->lua_checkstack(L, LUA_MINSTACK) || known(a, L))
    return;
  const Meeting meeting = {a, caller, file}, *outer = now;
  int top = a->lua_gettop(L);
  now = &meeting;
  a->lua_pushcclosure(L, meet_protected, 0);
  if (a->lua_pcallk(L, 0, 0, 0, 0, NULL) != LUA_OK)
    complain(a, L);
  a->lua_settop(L, top);
  now = outer;
}

/* }================================================================== */

/*
** {==================================================================
** What is put before a host's Lua
** ===================================================================
*/

/* The function that a place in the program calls by way of this object, as that
   place has called it the last time on this thread: a program that loads chunks
   all the time looks nothing up. */
typedef struct Route {
  const void *caller;
  void *function;
  const Api *api;
} Route;

static void find_route (Route *r, const char *name, const void *caller,
                        lua_State *L) {
  if (r->caller == caller)
    return;
  r->function = behind(name, caller);
  r->api = api_of(r->function, L);
  r->caller = caller;
}

/* Declares 'real', the function behind the one in which this stands. */
#define MEET(name, L, file) \
  static _Thread_local Route route; \
  __typeof__(&name) real; \
  find_route(&route, #name, CALLER, L); \
  memcpy(&real, &route.function, sizeof real); \
  if (route.api != NULL) \
    meet(route.api, L, CALLER, file)

PUBLIC int lua_load (lua_State *L, lua_Reader reader, void *data,
                     const char *name, const char *mode) {
  MEET(lua_load, L, NULL);
  return real(L, reader, data, name, mode);
}

PUBLIC int luaL_loadfilex (lua_State *L, const char *file, const char *mode) {
  MEET(luaL_loadfilex, L, file);
  return real(L, file, mode);
}

PUBLIC int luaL_loadbufferx (lua_State *L, const char *text, size_t size,
                             const char *name, const char *mode) {
  MEET(luaL_loadbufferx, L, NULL);
  return real(L, text, size, name, mode);
}

PUBLIC int luaL_loadstring (lua_State *L, const char *text) {
  MEET(luaL_loadstring, L, NULL);
  return real(L, text);
}

/* Tracegrip's own states load their chunks by 'require', like a host's. */
PUBLIC lua_State *luaL_newstate (void) {
  void *function = behind("luaL_newstate", CALLER);
  __typeof__(&luaL_newstate) real;
  memcpy(&real, &function, sizeof real);
  lua_State *L = real();
  if (L != NULL && is_ours(CALLER)) {
    const Api *a = api_of(function, L);
    if (a != NULL)
      meet(a, L, CALLER, NULL);
  }
  return L;
}

/* }================================================================== */
