// browser.mjs - Chromium without a window, for pictures and specs: pages that
// are opened, asked, clicked and taken as a picture.
//
// start(directory) -> browser: its profile is kept in the directory.
// share(directory) -> the same of one that another process has started there;
//   its pages go with this process, the browser stays.
//   browser.port, browser.open(url, options) -> page, browser.close()
//   page.send(method, params): whatever the protocol has
//   page.go(url), page.value(expression), page.until(expression),
//   page.settle(),
//   page.click(x, y, button = "left", count = 1), page.move(x, y),
//   page.key(name, code),
//   page.write(text), page.type(text), page.shot(file), page.close(),
//   page.complaints: what its code has thrown or called an error, as lines
// waitFor(what, found, patience): what found() gives, once that is something.
// Whatever the browser refuses is thrown, as is a wait of more than a minute.

import {spawn} from "node:child_process"
import {existsSync, readFileSync, writeFileSync} from "node:fs"
import {join} from "node:path"
import {setTimeout as sleep} from "node:timers/promises"

const PATIENCE = 60000      // ms, for whatever is waited for
const STILL = 1000          // ms, how long a page that has settled stays alike
const REST = 500            // ms after a click or a line, of a calm page

export async function waitFor (what, found, patience = PATIENCE) {
  const end = Date.now() + patience
  for (;;) {
    const value = await found()
    if (value)
      return value
    if (Date.now() > end)
      throw new Error(`waited for ${what} in vain`)
    await sleep(50)
  }
}

// A promise that nobody else sees to: no later than that.
export function within (what, promise, patience = PATIENCE) {
  let timer
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`waited for ${what} in vain`)),
                       patience)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// The socket's address has its path in the second line of that file.
async function portOf (directory) {
  const file = join(directory, "DevToolsActivePort")
  const lines = await waitFor("the browser", () =>
    existsSync(file) && readFileSync(file, "utf8").split("\n")[1]
    && readFileSync(file, "utf8").split("\n"))
  return {port: lines[0], path: lines[1]}
}

// Returns a function (method, params, sessionId) -> promise of the result;
// heard(event) is told what the browser says unasked.
async function connect (address, heard) {
  const socket = new WebSocket(address)
  const answers = []
  await within("a connection to the browser", new Promise((done, fail) => {
    socket.onopen = done
    socket.onerror = () => fail(new Error("the browser cannot be reached"))
  }))
  socket.onclose = () => answers.forEach(({fail}) =>
    fail(new Error("the browser has gone")))
  socket.onmessage = ({data}) => {
    const {id, result, error, ...event} = JSON.parse(data)
    if (id === undefined)
      heard(event)
    else
      error ? answers[id].fail(new Error(error.message))
            : answers[id].done(result)
  }
  return (method, params = {}, sessionId) =>
    within(`the browser's answer to ${method}`, new Promise((done, fail) => {
      const id = answers.push({done, fail}) - 1
      socket.send(JSON.stringify({id, method, params, sessionId}))
    }))
}

// What an event says that should not be; undefined: nothing.
function complaintOf ({method, params}) {
  if (method === "Runtime.exceptionThrown") {
    const {text, exception} = params.exceptionDetails
    return `${text} ${exception?.description ?? exception?.value ?? ""}`
  }
  if (method === "Runtime.consoleAPICalled" && params.type === "error")
    return params.args.map((arg) => arg.description ?? arg.value).join(" ")
}

// A page that is not calm goes on at once after a click, and never settles: for
// who waits for what has to be seen.
function pageOf (page, close, complaints, calm) {
  async function value (expression) {
    const {result, exceptionDetails} = await page("Runtime.evaluate",
      {expression, awaitPromise: true, returnByValue: true})
    if (exceptionDetails)
      throw new Error(JSON.stringify(exceptionDetails))
    return result.value
  }
  const picture = async () =>
    (await page("Page.captureScreenshot", {})).data
  async function key (name, code, text) {
    for (const type of ["rawKeyDown", ...text ? ["char"] : [], "keyUp"])
      await page("Input.dispatchKeyEvent", {type, key: name, text,
        code: name, windowsVirtualKeyCode: code})
  }
  const move = (x, y) =>
    page("Input.dispatchMouseEvent", {type: "mouseMoved", x, y})
  const write = (text) => page("Input.insertText", {text})
  const rest = () => calm ? sleep(REST) : undefined
  return {
    value,
    complaints,
    async go (url) {
      const {errorText} = await page("Page.navigate", {url})
      if (errorText)
        throw new Error(`${url}: ${errorText}`)
    },
    until: (expression) => waitFor(expression, () => value(expression)),
    move,
    async click (x, y, button = "left", count = 1) {
      await move(x, y)
      for (let clickCount = 1; clickCount <= count; clickCount++) {
        for (const type of ["mousePressed", "mouseReleased"])
          await page("Input.dispatchMouseEvent",
            {type, x, y, button, clickCount})
      }
      await rest()
    },
    key,
    // Into what has been clicked; 'type' with the enter key behind it.
    write,
    async type (text) {
      await write(text)
      await key("Enter", 13, "\r")
      await rest()
    },
    // Until nothing moves any more: pages do not say when they have drawn all.
    async settle () {
      if (!calm)
        return
      let before
      await waitFor("a page that stands still", async () => {
        const now = await picture()
        const same = now === before
        before = now
        await sleep(same ? 0 : STILL)
        return same
      })
    },
    async shot (file) {
      writeFileSync(file, Buffer.from(await picture(), "base64"))
    },
    close,
    send: page
  }
}

// What is asked of the browser whose profile is in that directory.
async function reach (directory) {
  const {port, path} = await portOf(directory)
  const pages = new Map()       // session -> complaints
  const send = await connect(`ws://127.0.0.1:${port}${path}`, (event) => {
    const complaint = complaintOf(event)
    if (complaint)
      pages.get(event.sessionId)?.push(complaint)
  })

  // Each page is as if it was opened for the first time: pages keep what was
  // unfolded or closed. With 'own' it is the profile's in the directory, as a
  // person has it; else one that is forgotten with the page.
  async function place (own) {
    if (own) {
      const {targetId} = await send("Target.createTarget",
        {url: "about:blank", newWindow: true})
      return [targetId, () => send("Target.closeTarget", {targetId})]
    }
    const {browserContextId} =
      await send("Target.createBrowserContext", {disposeOnDetach: true})
    const {targetId} = await send("Target.createTarget",
      {url: "about:blank", newWindow: true, browserContextId})
    return [targetId, () =>
      send("Target.disposeBrowserContext", {browserContextId})]
  }

  // scheme: "light" or "dark", as the system would ask for.
  async function open (url, {width, height, scheme, own, calm = true}) {
    const [targetId, close] = await place(own)
    const {sessionId} =
      await send("Target.attachToTarget", {targetId, flatten: true})
    const page = (method, params) => send(method, params, sessionId)
    pages.set(sessionId, [])
    await page("Runtime.enable")
    await page("Emulation.setDeviceMetricsOverride",
      {width, height, deviceScaleFactor: 1, mobile: false})
    await page("Emulation.setEmulatedMedia",
      {features: [{name: "prefers-color-scheme", value: scheme}]})
    const opened = pageOf(page, close, pages.get(sessionId), calm)
    await opened.go(url)
    return opened
  }

  return {port, open, send}
}

export async function share (directory) {
  const {port, open} = await reach(directory)
  return {port, open}
}

export async function start (directory) {
  const child = spawn("chromium", ["--headless=new", "--no-sandbox",
    `--user-data-dir=${directory}`, "--remote-debugging-port=0",
    "--remote-allow-origins=*", "--hide-scrollbars",
    "--allow-file-access-from-files", "about:blank"], {stdio: "ignore"})
  const {port, open, send} = await reach(directory)

  async function close () {
    await send("Browser.close").catch(() => child.kill())
    if (child.exitCode === null)
      await within("the browser's end",
        new Promise((done) => child.once("exit", done)))
        .catch(() => child.kill("SIGKILL"))
  }

  return {port, open, close}
}
