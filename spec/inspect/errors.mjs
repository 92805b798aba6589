// errors.mjs - the check boxes of exceptions, assertions of the console that
// fail, and an error that ends the program.

import {play} from "./stage.mjs"

const app = `local console = require "tracegrip.console"
local function fail (t)
  local key = "name"
  return t.person[key]
end
local round = 0
while round < 3 do
  round = round + 1
  pcall(fail, {})
  console.assert(round ~= 2, "round", round)
end
fail {}
`

const message = "app.lua:4: attempt to index a nil value (field 'person')"

await play({"app.lua": app}, 8, async ({page, program}) => {
  const tick = (name) => page.on(name, `(e) => e.type === "checkbox"
    && e.parentElement?.innerText.trim() === "${name}"`)
  const reason = (text) => page.sees("why it stands still",
    () => page.texts("status-main"), [text])

  await tick("Pause on caught exceptions")
  await page.press("Resume script execution")
  await page.stands("app.lua:4 app.lua:9",
    {Exception: `"${message}"`, key: `"name"`})
  await reason("Paused on exception")

  await tick("Pause on caught exceptions")
  await tick("Pause on uncaught exceptions")
  await page.press("Resume script execution")
  await page.stands("app.lua:10", {round: "2"})
  await reason("Paused on assertion")

  await page.press("Resume script execution")
  await page.stands("app.lua:4 app.lua:12", {Exception: `"${message}"`})
  await reason("Paused on exception")

  // Where it says so the console keeps what it shows when the program ends.
  await page.show("console")
  await page.press("Console settings")
  await page.on("Keep log", `(e) => e.childElementCount === 0
    && /^(Keep|Preserve) log$/.test(e.textContent.trim())`)
  await page.show("sources")
  await page.press("Resume script execution")
  await page.show("console")
  await page.sees("what the console says", async () =>
    (await page.messages()).map((text) => text.slice(0, 70)),
    ["Assertion failed: round 2", `Uncaught ${message}`.slice(0, 70)])
  await page.sees("what Lua says", () =>
    program.errors().split("\n").filter((line) => line.startsWith("lua")),
    [`lua5.4: ${message}`])
})
