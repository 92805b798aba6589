#!/bin/sh
# stolen.sh COMMAND... - runs it while each processor is taken away again and
# again, for up to 0.4 s at once and for half of the time, as the host of
# a virtual machine does. Tests that know how long something takes fail there,
# and beside processes that are merely busy they do not. Needs the right to
# real-time scheduling: root's.

thief='
local function some () return 0.4 * math.random() end
while true do
  os.execute("sleep " .. some())
  local stop = os.clock() + some()
  while os.clock() < stop do end
end'

chrt -f 50 true || exit 1
thieves=
trap 'kill $thieves' EXIT
for n in $(seq 0 $(($(nproc) - 1))); do
  taskset -c "$n" chrt -f 50 "${LUA:-lua5.4}" -e "$thief" &
  thieves="$thieves $!"
done
"$@"
