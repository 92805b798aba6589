// panels.mjs - what the program says in "Console", counts in "Coverage", and a
// profile in "Performance".

import {waitFor} from "../../build-aux/browser.mjs"
import {play} from "./stage.mjs"

const RECORDED = 20         // hundreds of rounds, while it is recorded

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
local rounds = 0
while not stop do
  busy(1000)
  local x = busy(10)
  rounds = rounds + 1
  if rounds % 100 == 0 then
    io.stdout:write("."):flush()
  end
end
`

await play({"app.lua": app}, 18, async ({page, program}) => {
  const goOn = () => {
    const before = program.output().length
    return waitFor("the program's rounds", () =>
      program.output().length >= before + RECORDED)
  }
  await page.show("console")
  await page.sees("messages", async () =>
    (await page.messages()).filter((text) => text !== ""),
    ["begins", "careful"])
  await page.show("sources")
  await page.show("coverage")
  await page.cover(true)
  await page.press("Resume script execution")
  await goOn()
  await page.cover(false)
  await page.sees("coverage", async () =>
    (await page.texts("data-grid-data-grid-node"))
      .map((text) => text.replace(/\s+/g, " ").replace(/^.*\//, "")),
    ["app.lua JS (per block) 433 19845.7%"])
  await page.show("timeline")
  await page.press("Record")
  await page.offers("Stop")
  await goOn()
  await page.press("Stop")
  await page.tab("Bottom-up")
  // Their order is a matter of who was interrupted how often.
  const wanted = ["busy app.lua:2:1", "math.sin (unknown)"]
  await page.sees("functions", async () =>
    (await page.texts("name-container"))
      .map((text) => text.replace(/\s+/g, " "))
      .filter((text) => wanted.includes(text)).sort(), wanted)
})
