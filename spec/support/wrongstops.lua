-- wrongstops.lua - requests that say where to stop as the protocol does not
-- have it: list of {command, arguments, what the answer has to be}.

local function lines (given, source)
  return {source = source or {path = "/x.lua"}, breakpoints = given}
end

return {
  {"setBreakpoints", lines {1},
   "setBreakpoints: number 1 of 'breakpoints' has to be an object"},
  {"setBreakpoints", lines {{line = 1}, {line = "2"}},
   "setBreakpoints: number 2 of 'breakpoints': 'line' has to be an integer"},
  {"setBreakpoints", lines {{line = 1, condition = {}}},
   "setBreakpoints: number 1 of 'breakpoints': 'condition' has to be a string"},
  {"setBreakpoints", lines({}, {sourceReference = "x"}),
   "'source': 'sourceReference' has to be an integer"},
  {"breakpointLocations", {source = {path = 1}, line = 1},
   "'source': 'path' has to be a string"},
  {"setFunctionBreakpoints", {breakpoints = {1}},
   "setFunctionBreakpoints: number 1 of 'breakpoints' has to be an object"},
  {"setFunctionBreakpoints", {breakpoints = {{}}},
   "setFunctionBreakpoints: number 1 of 'breakpoints': 'name' has to be a "
   .. "string"},
  {"setExceptionBreakpoints", {filters = {1}},
   "setExceptionBreakpoints: number 1 of 'filters' has to be a string"},
  {"setExceptionBreakpoints", {filters = {"caught"}, filterOptions = {1}},
   "setExceptionBreakpoints: number 1 of 'filterOptions' has to be an object"},
}
