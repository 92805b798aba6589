// session.mjs - questions to the Firefox Profiler without its page.
//
// Its command line keeps each file in a process that answers questions on a
// socket. Here that process is started and asked without the command line in
// between, which gives up on a busy machine.

import {spawn} from "node:child_process"
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync}
  from "node:fs"
import {createConnection} from "node:net"
import {tmpdir} from "node:os"
import {join} from "node:path"
import {createInterface} from "node:readline"
import {setTimeout as sleep} from "node:timers/promises"

const script = "node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js"

// The session's description, once it is there and complete.
function sessionIn (directory) {
  const name = readdirSync(directory).find((name) => name.endsWith(".json"))
  try {
    const session = name && JSON.parse(readFileSync(join(directory, name)))
    return session && existsSync(session.socketPath) ? session : undefined
  }
  catch {
    return undefined
  }
}

async function start (file, directory) {
  const child = spawn(process.execPath,
    [script, "--daemon", file, "--session", "s"], {
      env: {...process.env, PROFILER_CLI_SESSION_DIR: directory},
      stdio: "ignore"
    })
  while (child.exitCode === null) {
    const session = sessionIn(directory)
    if (session)
      return {child, session}
    await sleep(10)
  }
  throw new Error(`the profiler ended with status ${child.exitCode}`)
}

// Returns a function (message) -> answer.
function connect ({socketPath}) {
  const socket = createConnection(socketPath)
  const lines = createInterface({input: socket})[Symbol.asyncIterator]()
  async function send (message) {
    socket.write(JSON.stringify(message) + "\n")
    const answer = JSON.parse((await lines.next()).value)
    if (answer.type === "error")
      throw new Error(answer.error)
    return answer
  }
  send.end = () => socket.destroy()
  return send
}

async function loaded (send) {
  while ((await send({type: "status"})).type !== "ready")
    await sleep(10)
}

// Calls use(ask) with a process that has a file; ask (command) -> answer.
export async function within (file, use) {
  const directory = mkdtempSync(join(tmpdir(), "tracegrip-profiler-"))
  let child, session, send
  try {
    ({child, session} = await start(file, directory))
    send = connect(session)
    await loaded(send)
    return await use(async (command) =>
      (await send({type: "command", command})).result)
  }
  finally {
    send?.end()
    child?.kill()
    rmSync(directory, {recursive: true, force: true})
  }
}
