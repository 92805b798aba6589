// opening.mjs - the address that a person is told to paste, as it is printed,
// into a browser whose profile has never shown a front end: it shows the program. Which
// stays where it is while the Memory panel takes a snapshot of its heap and shows
// that, and answers when it waits in luv's loop.

import {waitFor} from "../../build-aux/browser.mjs"
import {play} from "./stage.mjs"

const app = `local uv = require "luv"
local timer = uv.new_timer()
timer:start(3600000, 0, print)
answer = 42
print(answer)
io.stdout:flush()
uv.run()
`

await play({"app.lua": app}, 0, async ({page, program}) => {
  await page.sees("the file", page.file, "app.lua")
  await page.sees("its source", () => page.texts("cm-line"), app.split("\n"))
  await page.stands("app.lua:1")
  const here = await page.value("location.href")
  if (here !== program.address)
    throw new Error(`${here} was opened, not ${program.address}`)
  const panels = await page.texts("tabbed-pane-header-tab")
  for (const wanted of ["Sources", "Console", "Performance"]) {
    if (!panels.includes(wanted))
      throw new Error(`no panel ${wanted} among ${panels}`)
  }

  await page.show("heap-profiler")
  await page.on("the button", `(e) => e.children.length === 0
    && e.innerText.trim() === "Take snapshot"`)
  // It takes up the program's pause anew then, and brings the sources to the
  // front, whenever that is.
  await page.sees("classes of its heap", async () => {
    await page.show("heap-profiler")
    const rows = (await page.texts("data-grid-data-grid-node"))
      .map((text) => text.trim())
    return ["(string)", "Function", "main thread"].every((name) =>
      rows.some((row) => row.startsWith(name)))
  }, true)
  await page.show("sources")
  await page.stands("app.lua:1")

  await page.press("Resume script execution")
  await waitFor("what the program prints", () => program.output() === "42\n")
  await page.show("console")
  await page.say("answer * 1000 + #arg")
  await page.sees("its answer", async () =>
    (await page.texts("console-user-command-result"))
      .map((text) => text.trim()), ["42000"])
}, true)
