// breakpoints.mjs - breakpoints as people set them: beside a line that has no
// code, with a condition, as a logpoint, in a file that is not loaded yet;
// lines to continue to, and files that are ignored.

import {play} from "./stage.mjs"

const app = `local helper = require "helper"
local function add (a, b)
  local sum = a + b

  return sum
end
local n = 0
while n < 6 do
  n = n + 1
  add(n, 2)
  helper.twice(n)
end
while n do
  n = n + 0
end
`

const helper = `local helper = {}
function helper.twice (n)
  local m = n * 2
  return m
end
return helper
`

await play({"app.lua": app, "helper.lua": helper}, 8, async (stage) => {
  const {page} = stage

  // It moves to the next line that has code.
  await page.gutter(4)
  await page.marked([5])
  await page.gutter(5)
  await page.marked([])

  await page.give(10, "Add conditional breakpoint…", "n > 2 and n % 2 == 1")
  await page.give(9, "Add logpoint…", "'n is', n")
  await page.marked([9, 10])
  await page.press("Resume script execution")
  await page.stands("app.lua:10", {n: "3"})

  // A file that is ignored is passed over, and its frames are not shown.
  await page.press("Step over next function call")
  await page.stands("app.lua:11")
  await page.press("Step into next function call")
  await page.stands("helper.lua:3 app.lua:11", {n: "3"})
  await page.sees("the other file", page.file, "helper.lua")
  await page.choose(3, "Add script to ignore list")
  await page.stands("app.lua:11")
  await page.press("Resume script execution")
  await page.stands("app.lua:10", {n: "5"})
  await page.press("Step over next function call")
  await page.stands("app.lua:11", {n: "5"})
  await page.press("Step into next function call")
  await page.stands("app.lua:8", {n: "5"})

  await page.choose(14, "Continue to here")
  await page.stands("app.lua:14", {n: "6"})
  await page.show("console")
  await page.sees("what the logpoint says", page.messages,
    [0, 1, 2, 3, 4, 5].map((n) => `n is ${n}`))

  // The next run of the program gets them before it has loaded the file.
  await page.show("sources")
  await page.on("a tab", `(e) => e.classList.contains("closeable")
    && e.innerText === "helper.lua"`)
  await page.choose(3, "Remove from ignore list")
  await page.gutter(3)
  await page.marked([3])
  await page.turn(await stage.debug(0))
  await page.stands("app.lua:1")
  await page.press("Resume script execution")
  await page.stands("helper.lua:3 app.lua:11", {n: "1"})
})
