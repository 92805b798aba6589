// acting.mjs BUILD DIRECTORY - what people do in the front end that Chromium
// brings along: a breakpoint by a click, code in the console, the pause button.
// Prints what the panels show then, a line each. Called by frontend_spec.lua.

import {mkdtempSync, rmSync} from "node:fs"
import {tmpdir} from "node:os"
import {join, resolve} from "node:path"

import {attach, debug} from "../../build-aux/debugged.mjs"
import {start} from "../../build-aux/browser.mjs"

const [build, directory] = process.argv.slice(2)
const profile = mkdtempSync(join(tmpdir(), "tracegrip-acting-"))
const program = await debug(resolve(build), directory, "app.lua", 6)
const browser = await start(profile)

try {
  const page = await attach(browser, program.address,
    {width: 1100, height: 640, scheme: "light"})
  const show = async () => {
    await page.settle()
    const places = (await page.texts("call-frame-location"))
      .filter((text) => /^\w+\.lua/.test(text)).join(" ")
    const scope = (await page.texts("name-and-value"))
      .map((text) => text.replace(/\s+/g, " "))
      .filter((text, i, list) => !text.startsWith("this")
        && list.indexOf(text) === i).join(", ")
    console.log(`${places} | ${scope}`)
  }
  await show()
  await page.gutter(3)
  await page.press("Resume script execution")
  await show()
  await page.show("console")
  await page.say("a + b")
  await page.say("sum = {sum, 'changed'}")
  await page.say("sum[2]")
  console.log((await page.texts("console-user-command-result")).join(" "))
  await page.show("sources")
  await page.gutter(3)
  await page.press("Resume script execution")
  await page.press("Pause script execution")
  await show()
}
finally {
  await browser.close()
  program.kill()
  rmSync(profile, {recursive: true, force: true})
}
process.exit()
