// memory.mjs - what the Memory panel shows of a program that allocates: who has
// made what is alive, and when.

import {waitFor} from "../../build-aux/browser.mjs"
import {play} from "./stage.mjs"

const app = `kept = {}
local function keep (i)
  kept[i % 1000] = ("x"):rep(10000) .. i
end
local function work (i)
  keep(i)
end
local rounds = 0
while not stop do
  rounds = rounds + 1
  work(rounds)
  if rounds % 1000 == 0 then
    io.stdout:write("."):flush()
  end
end
`

await play({"app.lua": app}, 9, async ({page, program}) => {
  const goOn = () => {
    const before = program.output().length
    return waitFor("the program's rounds", () =>
      program.output().length >= before + 3)
  }
  const click = (what, text) => page.on(what, `(e) =>
    e.children.length === 0 && e.innerText?.trim() === "${text}"`)
  const rows = async () => (await page.texts("data-grid-data-grid-node"))
    .map((text) => text.replace(/\s+/g, " ").trim())
  await page.press("Resume script execution")
  await page.show("heap-profiler")
  await click("the kind", "Allocation sampling")
  await click("the button", "Start")
  await goOn()
  await page.press("Stop heap profiling")
  await page.sees("who has made what is alive", async () =>
    (await rows()).some((row) => /keep/.test(row)), true)
  await click("the profiles", "Profiles")
  await click("the kind", "Allocations on timeline")
  await click("the button", "Start")
  await goOn()
  await page.press("Stop recording heap profile")
  await page.sees("what was made and is alive", async () =>
    (await rows()).some((row) => row.startsWith("(string)")), true)
})
