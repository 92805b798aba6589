// stepping.mjs - frames and scopes, and steps by their buttons.

import {play} from "./stage.mjs"

const app = `local function add (a, b)
  local sum = a + b
  return sum
end
local t = {name = "x"}
local r = add(1, 2)
print(r, t.name)
`

await play({"app.lua": app}, 2, async ({page, program}) => {
  await page.stands("app.lua:2 app.lua:6", {a: "1", b: "2", this: "undefined"})
  await page.sees("the frames", () => page.texts("call-frame-item-title"),
    ["add", "(main chunk)", "(anonymous)"])
  await page.press("Step over next function call")
  await page.stands("app.lua:3 app.lua:6", {sum: "3"})
  await page.press("Step out of current function")
  await page.stands("app.lua:7", {r: "3", t: "table {name: 'x'}"})
  await page.press("Resume script execution")
  await page.sees("what the program prints", program.output, "3\tx\n")
})
