// mapped.mjs - a program that was TypeScript is shown as such: the front end reads
// the source map beside the Lua.

import {readFileSync} from "node:fs"

import {waitFor} from "../../build-aux/browser.mjs"
import {play} from "./stage.mjs"

const compiled = (name) =>
  readFileSync(new URL(`../dap/compiled/${name}`, import.meta.url), "utf8")

const files = {
  "app.lua": compiled("basket.ts.out"),
  "app.lua.map": compiled("basket.ts.map").replace("../src/", ""),
  "basket.ts": compiled("basket.ts"),
}

await play(files, 35, async ({page, program}) => {
  const places = async () => (await page.texts("call-frame-location"))
    .filter((text) => /^\w+\.\w+:/.test(text)).join(" ")
  await page.sees("a pause in TypeScript", places, "basket.ts:17 basket.ts:37")
  await page.sees("the file", page.file, "basket.ts")
  await page.press("Step over next function call")
  await page.sees("its next line", places, "basket.ts:18 basket.ts:37")
  await page.press("Resume script execution")
  await waitFor("what the program prints",
                () => program.output().startsWith("nil\t5\n"))
})
