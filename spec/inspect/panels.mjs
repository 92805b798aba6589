// panels.mjs - what the program says in "Console", counts in "Coverage", and a
// profile in "Performance".

import {setTimeout as sleep} from "node:timers/promises"

import {play} from "./stage.mjs"

const RECORDED = 1500       // ms that the program runs while it is recorded

const app = `local console = require "tracegrip.console"
local function busy (n)
  local x = 0
  for i = 1, n do
    x = x + math.sin(i)
  end
  return x
end
local function never ()
  return 1
end
console.log("begins", {n = 1})
console.warn "careful"
console.table {{a = 1}, {a = 2}}
while not stop do
  busy(1000)
  local x = busy(10)
end
`

await play({"app.lua": app}, 17, async ({page}) => {
  await page.show("console")
  await page.sees("messages", async () =>
    (await page.messages()).filter((text) => text !== ""),
    ["begins", "careful"])
  await page.show("sources")
  await page.show("coverage")
  await page.cover(true)
  await page.press("Resume script execution")
  await sleep(RECORDED)
  await page.cover(false)
  await page.sees("coverage", async () =>
    (await page.texts("data-grid-data-grid-node"))
      .map((text) => text.replace(/\s+/g, " ").replace(/^.*\//, "")),
    ["app.lua JS (per block) 327 18155.4%"])
  await page.show("timeline")
  await page.press("Record")
  await sleep(RECORDED)
  await page.press("Stop")
  await page.settle()
  await page.tab("Bottom-up")
  await page.sees("functions", async () =>
    (await page.texts("name-container")).slice(0, 2)
      .map((text) => text.replace(/\s+/g, " ")).sort(),
    ["busy app.lua:2:1", "math.sin (unknown)"])
})
