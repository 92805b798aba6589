// panels.mjs BUILD DIRECTORY - records coverage and a profile of a program in
// DIRECTORY by the front end that Chromium brings along, and prints what its
// panels show: the console's messages, the files of coverage, the functions of
// the profile. Called by frontend_spec.lua.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"
import {setTimeout as sleep} from "node:timers/promises"

import {attach, debug} from "../../build-aux/debugged.mjs"
import {start} from "../../build-aux/browser.mjs"

const [build, directory] = process.argv.slice(2)
const profile = mkdtempSync(join(tmpdir(), "tracegrip-panels-"))
const program = await debug(resolve(build), directory, "app.lua", 17)
const browser = await start(profile)

async function show (what, texts) {
  console.log(`${what}: ${texts.filter((text) => text !== "").join(", ")
    .replace(/\s+/g, " ")}`)
}

try {
  const page = await attach(browser, program.address,
    {width: 1100, height: 640, scheme: "light"})
  await page.show("console")
  await show("console", await page.texts("console-message-text"))
  await page.show("sources")
  await page.show("coverage")
  await page.cover(true)
  await page.press("Resume script execution")
  await sleep(1000)
  await page.cover(false)
  await page.settle()
  await show("coverage", (await page.texts("data-grid-data-grid-node"))
    .map((text) => text.replace(/^\S*\//, "")))
  await page.show("timeline")
  await page.press("Record")
  await sleep(1500)
  await page.press("Stop")
  await page.settle()
  await page.tab("Bottom-up")
  await page.settle()
  await show("functions",
    (await page.texts("name-container")).slice(0, 2).sort())
}
finally {
  await browser.close()
  program.kill()
  rmSync(profile, {recursive: true, force: true})
}
process.exit()
