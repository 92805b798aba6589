--- nginxes.lua - nginx with its Lua module, a process of its own that answers
-- requests by a script.

local hosts = require "spec.support.hosts"

local nginxes = {}

local modules = "/usr/lib/nginx/modules/"

local conf = [[
  load_module $ndk_http_module.so;
  load_module $ngx_http_lua_module.so;
  daemon off; master_process off; pid @/pid; error_log @/errors;
  events {}
  http {
    access_log off; client_body_temp_path @/1; proxy_temp_path @/2;
    fastcgi_temp_path @/3; uwsgi_temp_path @/4; scgi_temp_path @/5;
    server {
      listen unix:@/socket;
      location / { content_by_lua_file @/handler.lua; }
      location /ready { return 200; }
    }
  }]]

--- What declares a test of it: 'it', or one that says that there is none.
function nginxes.test (it, pending)
  return hosts.test("nginx", modules .. "ngx_http_lua_module.so",
                    "nginx with its Lua module", it, pending)
end

--- What one asks it for.
function nginxes.get (path)
  return "GET " .. path .. " HTTP/1.0\r\n\r\n"
end

--- Runs use(host) while it answers with what the handler says, a text of Lua;
-- ends it in any case.
function nginxes.with (handler, use)
  hosts.with({
    file = "nginx",
    prepare = function (host)
      host:write("handler.lua", handler)
      host:write("nginx.conf", (conf:gsub("%$", modules)))
      return {"-p", host.directory, "-c", host.directory .. "/nginx.conf"}
    end,
    ready = function (host) return host:ask(nginxes.get "/ready") end
  }, use)
end

return nginxes
