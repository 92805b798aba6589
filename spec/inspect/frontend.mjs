// frontend.mjs BUILD DIRECTORY - drives a program in DIRECTORY by the front end
// that Chromium brings along, through its own buttons, and prints what the
// panels show, a line each; then what they show of an error. Called by frontend_spec.lua.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {attach, debug} from "../../build-aux/debugged.mjs"
import {start} from "../../build-aux/browser.mjs"

const [build, directory] = process.argv.slice(2)
const profile = mkdtempSync(join(tmpdir(), "tracegrip-frontend-"))
const program = await debug(resolve(build), directory, "app.lua", 2)
const failing = await debug(resolve(build), directory, "fail.lua", null)
const browser = await start(profile)

const frames = async (page) => (await page.texts("call-frame-item-title"))
  .filter((text) => text !== "").join(" ")
const places = async (page) => (await page.texts("call-frame-location"))
  .filter((text) => /^\w+\.lua/.test(text)).join(" ")
const scope = async (page) => (await page.texts("name-and-value"))
  .map((text) => text.replace(/\s+/g, " ")).sort()
  .filter((text, i, list) => text !== list[i - 1]).join(", ")

try {
  const page = await attach(browser, program.address,
    {width: 1100, height: 640, scheme: "light"})
  const show = async () => {
    await page.settle()
    console.log(`${await places(page)} | ${await scope(page)}`)
  }
  console.log(await frames(page))
  await show()
  await page.press("Step over next function call")
  await show()
  await page.press("Step out of current function")
  await show()
  await page.press("Resume script execution")
  await page.settle()
  console.log(program.output().trim())
  const size = {width: 1100, height: 640, scheme: "light"}
  const stopped = await attach(browser, failing.address, size)
  await stopped.settle()
  console.log((await stopped.texts("status-main")).join(" ").trim())
  console.log(`${await places(stopped)} | ${await scope(stopped)}`)
}
finally {
  await browser.close()
  program.kill()
  failing.kill()
  rmSync(profile, {recursive: true, force: true})
}
process.exit()
